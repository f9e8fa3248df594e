"""Random kernels of bulk copies: free of races, whatever the order of warps and copies."""

import pytest

from tests.async_bytes import digest, simulated
from tests.async_random import FAMILIES

FEW = [(family, seed) for family in FAMILIES for seed in range(4)]


@pytest.mark.parametrize(("family", "seed"), FEW)
def test_any_order_gives_the_same_bytes(family, seed):
    """No race and no fault, and the bytes of a run in a random order are those of a run in step."""
    kernel = FAMILIES[family][0](seed)
    result, _, after = simulated(kernel)
    assert not result.races
    assert not result.faults
    other, _, found = simulated(kernel, seed=seed + 1)
    assert not other.races
    assert not other.faults
    assert digest(found) == digest(after)
