"""A pipelined GEMM on wgmma: right, clean, and nothing in it can be left out."""

import numpy as np
import pytest

from tests.wgmma_gemm import gemm

DEPTH = 256


@pytest.fixture(scope="module")
def matrices():
    """Random A and B in f16."""
    rng = np.random.default_rng(4)
    shapes = (128, DEPTH), (DEPTH, 128)
    return tuple(rng.standard_normal(s).astype(np.float16) for s in shapes)


def run(kernel, matrices, **options):
    a, b = matrices
    return kernel.run(a=a, b=b, c=np.zeros((128, 128), np.float32), **options)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_product_is_right_and_clean(matrices, seed):
    """In step and with every warp on its own: no finding, and the error of 16 truncated sums."""
    result = run(gemm(DEPTH), matrices, seed=seed)
    assert result.clean
    a, b = (m.astype(np.float64) for m in matrices)
    bound = (DEPTH // 16 + 16) * 2.0**-23 * (np.abs(a) @ np.abs(b))
    assert (np.abs(result.outputs["c"].reshape(128, 128) - a @ b) <= bound).all()


ORDER = {
    "nvgpu.device_async_wait 0": {"copy in flight"},
    "nvvm.fence.proxy 0": {"missing proxy fence"},
    "gpu.barrier 0": {"read after write"},
    "phobos.wgmma.fence 0": {"missing wgmma fence"},
    "nvvm.wgmma.commit.group.sync.aligned 0": {"read in flight", "registers in flight"},
    "phobos.wgmma.wait 0": {"read in flight"},
    "gpu.barrier 1": {"read in flight"},
    "phobos.wgmma.wait 1": {"registers in flight"},
}
"""Every operation that orders something, by name and number, and the races that its deletion makes.

The group of the copies is not among them: the wait takes its token, so it goes only with the wait.
"""


def deleted(name):
    """The GEMM without one operation; what passes through it goes on unchanged."""
    kernel = gemm(DEPTH)
    kind, number = name.split()
    op = [o for o in kernel.module.walk() if o.name == kind][int(number)]
    for result in op.results:
        if result.uses.get_length():
            result.replace_all_uses_with(op.operands[result.index])
    op.detach()
    op.erase()
    return kernel


@pytest.mark.parametrize("name", ORDER)
def test_nothing_can_be_left_out(matrices, name):
    """Each fence, wait, commit and barrier deleted is reported, by lines of both operations."""
    found = {}
    for seed in (0, 1):
        for race in run(deleted(name), matrices, seed=seed).races:
            found.setdefault(race.kind, race)
    assert ORDER[name] <= set(found)


def test_every_ordering_operation_is_listed():
    """The list above holds every one of them."""
    counted = {}
    for op in gemm(DEPTH).module.walk():
        if op.name in {name.split()[0] for name in ORDER}:
            counted[op.name] = counted.get(op.name, 0) + 1
    assert {f"{n} {k}" for n, count in counted.items() for k in range(count)} == set(ORDER)
