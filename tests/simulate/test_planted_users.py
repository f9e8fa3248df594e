"""`compare` on faults as users make them, and on the kernels as they should be."""

import numpy as np
import pytest

import phobos_nb as ph
from tests.simulate.planted_texts import KERNELS
from tests.simulate.planted_users import OPEN, SETS

PLANTED = {name: planted for of in SETS.values() for name, planted in of.items() if name not in OPEN}


@pytest.mark.parametrize("name", KERNELS)
def test_the_right_kernels_agree(name):
    """Without a fault nothing is said."""
    case = KERNELS[name]
    kernel = ph.compile(case.text)[name]
    found = kernel.compare(**case.arguments(np.random.default_rng(11)), ref=case.right, **case.options)
    assert not found, repr(found)


@pytest.mark.parametrize("name", PLANTED)
def test_the_kind_of_a_users_fault_is_told_from_arrays(name):
    """The right answer given as arrays, all kinds are exactly what was planted."""
    found = PLANTED[name].differences(function=False)
    assert found, "nothing differs"
    assert {difference.kind for difference in found} == {PLANTED[name].kind}, repr(found)
