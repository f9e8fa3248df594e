"""Split-K: two launches through scratch give what one launch gives, and say so."""

from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph

EXAMPLES = Path(__file__).parents[2] / "examples"
TILE = {"TILE_M": 32, "TILE_N": 32, "TILE_K": 8}


def arrays(m, n, k):
    rng = np.random.default_rng(m * n + k)
    return [rng.standard_normal(s, dtype=np.float32) for s in ((m, k), (k, n), (m, n))]


@pytest.mark.parametrize(("size", "parts"), [((33, 70, 100), 4), ((32, 64, 8), 3), ((5, 32, 64), 2)])
def test_a_split_loop_adds_up(size, parts):
    """Ragged extents, more parts than slices, a whole number of slices each: right and without races."""
    kernel = ph.load(EXAMPLES / "gemm_fp32_any.ph", **TILE, SPLIT_K=parts).gemm
    a, b, c = arrays(*size)
    result = kernel.simulate(a, b, c, 0.5, 2.0)
    assert result.clean
    answer = 0.5 * (a.astype(np.float64) @ b) + 2.0 * c
    assert np.abs(result.outputs["C"] - answer).max() < 1e-4
    again = kernel.simulate(a, b, c, 0.5, 2.0, seed=3)
    assert np.array_equal(result.outputs["C"], again.outputs["C"])


def test_two_launches_and_their_scratch():
    """The first has the parts on axis z, the second the kernel's own grid; a note names both."""
    compiled = ph.load(EXAMPLES / "gemm_fp32.ph", **TILE).gemm.compile(chip="sm_80", SPLIT_K=4)
    plan = compiled.plan
    assert [x.role for x in plan.launches] == ["split", "main"]
    extents = {"M": 64, "N": 96, "K": 512}
    assert plan.grids((2, 3, 1), extents) == ((2, 3, 4), (2, 3, 1))
    assert [s.shape(extents) for s in plan.scratch] == [(4, 3, 2, 32 * 32)]
    (note,) = [n for n in compiled.notes if n.code == "PH514"]
    assert "4 CTAs share the k loop" in note.message


LOOPS = """
kernel two(A: tensor<f32>[M, K], C: tensor<f32>[M, N]) {
  var acc: tile<f32>[16, 16] = 0.0
  for kt in range(0, K, 16) {
    acc += A[ctx.block.x * 16 :+ 16, kt :+ 16]
  }
  C[ctx.block.x * 16 :+ 16, ctx.block.y * 16 :+ 16] = acc
}
"""


def test_what_cannot_be_split_says_why():
    """A loop that accumulates no dot is one launch, and PH514 gives the reason."""
    compiled = ph.compile(LOOPS, name="cell").two.compile(chip="sm_80", SPLIT_K=4)
    assert len(compiled.launches) == 1
    (note,) = [n for n in compiled.notes if n.code == "PH514"]
    assert "not the accumulator of dots" in note.message


def test_a_given_grid_is_not_split():
    """With grid= the launches cannot agree on the scratch, so there is one."""
    kernel = ph.load(EXAMPLES / "gemm_fp32_any.ph", **TILE, SPLIT_K=4).gemm
    a, b, c = arrays(32, 32, 64)
    assert kernel.simulate(a, b, c, 1.0, 0.0, grid=(1, 1)).ctas == 1
    assert kernel.simulate(a, b, c, 1.0, 0.0).ctas == 5


def test_upstream_takes_both_launches():
    """Both thread modules verify, and upstream's reader takes them."""
    compiled = ph.load(EXAMPLES / "gemm_fp32.ph", **TILE).gemm.compile(chip="sm_80", SPLIT_K=2)
    for launch in compiled.launches:
        launch.thread_module.verify()
        assert "gpu.func" in launch.thread_mlir
