"""A warp-specialised GEMM whose stages bulk copies fill: right, clean, and nothing can be left out."""

import numpy as np
import pytest
from xdsl.dialects import scf

from tests.wgmma_tma_gemm import gemm

DEPTH = 512


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_product_is_right_and_clean(seed):
    """In step and with every warp on its own: no finding, and the error of 32 truncated sums."""
    made = gemm(DEPTH)
    result = made.run(seed=seed)
    assert result.clean
    a, b = (made.arguments[n].astype(np.float64) for n in "AB")
    bound = (DEPTH // 16 + 16) * 2.0**-23 * (np.abs(a) @ np.abs(b))
    assert (np.abs(result.outputs["C"] - a @ b) <= bound).all()


DELETED = {
    "phobos.wgmma.fence 0": {"missing wgmma fence"},
    "nvvm.wgmma.commit.group.sync.aligned 0": {"registers in flight", "read in flight"},
    "phobos.wgmma.wait 0": {"read in flight"},
    "phobos.wgmma.wait 1": {"registers in flight"},
    "nvgpu.mbarrier.try_wait.parity 1": {"copy in flight"},
    "gpu.barrier 0": {"read after write"},
}
"""Operations of the consumers and the races that their deletion makes."""
STUCK = ("nvgpu.mbarrier.arrive 0", "nvgpu.mbarrier.try_wait.parity 0")
"""The giving back of a stage, and the producer's wait for it: without one of them the ring jams."""


def deleted(name):
    """The GEMM without one operation; what passes through it goes on unchanged."""
    made = gemm(DEPTH)
    kind, number = name.split()
    op = [o for o in made.module.walk() if o.name == kind][int(number)]
    for result in op.results:
        if result.uses.get_length():
            result.replace_all_uses_with(op.operands[result.index])
    op.detach()
    op.erase()
    return made


@pytest.mark.parametrize("name", DELETED)
def test_nothing_can_be_left_out(name):
    """Each fence, wait, commit and barrier deleted is reported as what it is."""
    found = set()
    for seed in (0, 1, 2):
        found |= {race.kind for race in deleted(name).run(seed=seed).races}
    assert DELETED[name] <= found


@pytest.mark.parametrize("name", STUCK)
def test_the_ring_needs_both_ends(name):
    """A stage that is not given back, or not waited for, ends in a deadlock or in races."""
    found = [deleted(name).run(seed=seed) for seed in (0, 1)]
    faults = {f.kind for r in found for f in r.faults}
    races = {race.kind for r in found for race in r.races}
    assert "deadlock" in faults or "read in flight" in races


def test_the_wait_is_in_the_loop():
    """The first wait of the products stands in the consumers' loop, the second behind it."""
    waits = [o for o in gemm(DEPTH).module.walk() if o.name == "phobos.wgmma.wait"]
    assert [isinstance(w.parent_op(), scf.ForOp) for w in waits] == [True, False]
