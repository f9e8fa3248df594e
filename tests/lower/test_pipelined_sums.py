"""Loops that do more with products than add them up run ahead too, and mean what they say."""

import numpy as np
import pytest

import phobos_nb as ph

CELL = """
@launch(64)
@pipeline
kernel gemm(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N], s: f32) {
  let i = ctx.block.x * 32
  let j = ctx.block.y * 32
  var acc: tile<f32>[32, 32] = 0.25
  for k in range(0, K, 8) {
    let a = A[i :+ 32, k :+ 8]
    let b = B[k :+ 8, j :+ 32]
    STATEMENT
  }
  C[i :+ 32, j :+ 32] = acc
}
"""

STATEMENTS = [
    "acc -= dot(a, b)",
    "acc = acc - dot(a, b)",
    "let p = dot(a, b)\n    acc = acc - p",
    "acc += 2.0 * dot(a, b)",
    "acc += s * dot(a, b)",
    "acc = acc * 0.5 + f32(k) * dot(a, b)",
    "acc += dot(a, b)\n    acc += dot(a, b)",
    "acc += dot(a, b)\n    acc -= 0.5 * dot(a, b)",
    "acc = dot(a, b) - acc",
    "let p = dot(a, b)\n    acc += p * p",
]

A, B = ("A: tensor<f32>[M, K]", "A[i :+ 32, k :+ 8]"), ("B: tensor<f32>[K, N]", "B[k :+ 8, j :+ 32]")
A_TURNED = "A: tensor<f32>[K, M]", "transpose(A[k :+ 8, i :+ 32])"
B_TURNED = "B: tensor<f32>[N, K]", "transpose(B[j :+ 32, k :+ 8])"
TURNED = [(*A_TURNED, *B), (*A, *B_TURNED), (*A_TURNED, *B_TURNED)]


def kernel(statement, chip="sm_80"):
    return ph.compile(CELL.replace("STATEMENT", statement), name="cell", chip=chip).gemm


def turned(case, chip="sm_80"):
    text = CELL.replace("STATEMENT", "acc += dot(a, b)")
    for old, new in zip((*A, *B), case, strict=True):
        text = text.replace(old, new)
    return ph.compile(text, name="cell", chip=chip).gemm


def arrays(size, turn=(False, False)):
    m, n, k = size
    rng = np.random.default_rng(m * n + k)
    a, b = rng.standard_normal((m, k), dtype=np.float32), rng.standard_normal((k, n), dtype=np.float32)
    a, b = (np.ascontiguousarray(x.T) if t else x for x, t in zip((a, b), turn, strict=True))
    return [a, b, np.full((m, n), np.nan, np.float32), np.float32(0.75)]


def agrees(made, given):
    """Simulated in two orders of warps with races on, and as its meaning."""
    results = [made.simulate(*given, seed=seed) for seed in (0, 5)]
    made(*given)
    assert all(r.clean for r in results)
    assert np.array_equal(results[0].outputs["C"], results[1].outputs["C"])
    np.testing.assert_allclose(results[0].outputs["C"], given[2], rtol=2e-5, atol=1e-4)


@pytest.mark.parametrize("chip", ["sm_75", "sm_90a"])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_is_made_of_products_runs_ahead(statement, chip):
    """Subtracted, scaled, chained or squared: pipelined, equal to the meaning, ragged extents too."""
    made = kernel(statement, chip)
    (loop,) = made.compile().loops
    assert loop.stages == (2 if chip == "sm_75" else loop.stages)
    assert (loop.stages > 1, loop.reason) == (True, "")
    for size in ((37, 45, 29), (32, 32, 8), (5, 70, 40)):
        agrees(made, arrays(size))


@pytest.mark.parametrize("chip", ["sm_75", "sm_90a"])
@pytest.mark.parametrize("case", TURNED)
def test_a_transposed_load_is_copied_as_it_lies(case, chip):
    """`dot(transpose(A[..]), b)` runs ahead like `dot`; an operand k-major in memory by 16 bytes."""
    made = turned(case, chip)
    compiled = made.compile()
    (loop,) = compiled.loops
    assert (loop.stages > 1, loop.reason) == (True, "")
    assert len(compiled.shared_memory.buffers) == 2
    turn = "[K, M]" in case[0], "[N, K]" in case[2]
    for size in ((37, 45, 29), (64, 32, 24)):
        agrees(made, arrays(size, turn))


@pytest.mark.parametrize("statement", [*STATEMENTS[::3], ""])
def test_no_barrier_of_such_a_loop_is_idle(statement):
    """Left out, each barrier that is kept is missed: the simulator reports the race."""
    made = kernel(statement) if statement else turned(TURNED[0])
    given = arrays((32, 32, 40), (not statement, False))
    numbers = [b.number for b in made.compile().barriers if b.kept]
    assert numbers
    for number in numbers:
        assert made.simulate(*given, drop_barrier=number).races


def test_a_vector_is_subtracted_in_registers():
    """`acc -=` of a product with a single column keeps its own form, and its sign."""
    text = CELL.replace("STATEMENT", "acc -= dot(a, b)").replace("[32, 32]", "[32, 1]")
    text = text.replace("j :+ 32", "j :+ 1").replace("ctx.block.y * 32", "ctx.block.y")
    made = ph.compile(text, name="cell", chip="sm_90a").gemm
    assert [loop.mode for loop in made.compile().loops] == ["direct"]
    agrees(made, arrays((70, 1, 100)))


def test_two_products_on_one_sum_are_split_together():
    """SPLIT_K takes a loop whose accumulator is of two dots."""
    made = ph.compile(
        CELL.replace("STATEMENT", STATEMENTS[6]), name="cell", chip="sm_80", SPLIT_K=3
    ).gemm
    assert len(made.compile().launches) == 2
    agrees(made, arrays((37, 45, 70)))


REFUSED = [
    (
        "acc = acc + dot(a, b) * dot(a, b)\n    acc = dot(a, b) + exp(acc)",
        "a dot is added to something computed",
    ),
    (
        "let p = acc + dot(a, b)\n    acc = p * (p + dot(a, b))",
        "a product that another is added to is used",
    ),
]


@pytest.mark.parametrize(("statement", "reason"), REFUSED)
def test_sums_that_wait_for_others_do_not_run_ahead(statement, reason):
    """The reason says what the products wait for."""
    text = CELL.replace("STATEMENT", statement).replace("@pipeline\n", "")
    (loop,) = ph.compile(text, name="cell", chip="sm_80").gemm.compile().loops
    assert loop.stages == 1
    assert loop.reason.startswith(reason)
