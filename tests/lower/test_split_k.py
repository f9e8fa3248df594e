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


TURNED = """
@launch(128)
kernel turned(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[N, M]) {
  let i = ctx.block.x * 32
  let j = ctx.block.y * 32
  var acc: tile<f32>[32, 32] = 0.0
  for k in range(0, K, 8) {
    acc += dot(A[i :+ 32, k :+ 8], B[k :+ 8, j :+ 32])
  }
  C[j :+ 32, i :+ 32] = transpose(acc)
}
"""


def test_each_launch_leaves_out_its_own_barrier_of_that_number():
    """The product's launch and the one that turns the sums have a barrier 1 each: both are left out.

    The races of each launch are told by its own barrier, and with all barriers there are none.
    """
    kernel = ph.compile(TURNED, chip="sm_80", SPLIT_K=2).turned
    product, turn = (launch.barriers for launch in kernel.compile().launches)
    assert [(b.number, b.line, b.kept) for b in (*product, *turn)] == [(1, 8, True), (1, 10, True)]
    without = kernel.compile(drop_barrier=1)
    assert [b.kept for launch in without.launches for b in launch.barriers] == [False, False]
    a, b, _ = arrays(32, 32, 64)
    assert kernel.simulate(a, b, np.zeros((32, 32), np.float32)).clean
    races = kernel.simulate(a, b, np.zeros((32, 32), np.float32), drop_barrier=1).races
    assert {race.second.line for race in races} == {8, 10}
    for race in races:
        own = product[0] if race.second.line == 8 else turn[0]
        left_out = f"barrier 1 (before line {own.line}), left out with drop_barrier=1"
        assert race.help == f"this is what {left_out}, is for: {own.reason}"


def test_a_barrier_that_neither_launch_has_cannot_be_left_out():
    """PH516 at the kernel, with those of the launch that is listed."""
    kernel = ph.compile(TURNED, chip="sm_80", SPLIT_K=2).turned
    with pytest.raises(ph.PhobosError) as caught:
        kernel.compile(drop_barrier=2)
    (found,) = caught.value.diagnostics
    assert found.code == "PH516"
    assert "<phobos>:3:1\n" in str(caught.value)
    assert found.help.startswith("1 is kept: 1 before line 8; ")
