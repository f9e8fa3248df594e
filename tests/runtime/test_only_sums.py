"""Which kernels the choice of groups of warps is made for: those whose loops only add up products."""

import pytest

import phobos_nb as ph
from phobos_nb.compilation.only_sums import only_adds

CELL = """
kernel k(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  var acc: tile<f32>[32, 32] = 0.0
  var other: tile<f32>[32, 32] = 0.0
  for k in range(0, K, 8) {
    let a = A[ctx.block.x * 32 :+ 32, k :+ 8]
    let b = B[k :+ 8, ctx.block.y * 32 :+ 32]
    STATEMENT
  }
  C[ctx.block.x * 32 :+ 32, ctx.block.y * 32 :+ 32] = acc + other
}
"""


def adds(statement):
    return only_adds(ph.compile(CELL.replace("STATEMENT", statement), name="cell").k.typed({}))


@pytest.mark.parametrize(
    "statement",
    [
        "acc += dot(a, b)",
        "acc = dot(a, b) + acc",
        "acc -= dot(a, b)",
        "acc += dot(a, b)\n    other += dot(a, b)",
    ],
)
def test_sums_of_products(statement):
    """In either order, taken away too, in one variable or several."""
    assert adds(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "acc += 2.0 * dot(a, b)",
        "acc = dot(a, b) - acc",
        "acc = other + dot(a, b)",
        "acc += dot(a, b)\n    other = exp(acc)",
        "if k > 8 { acc += dot(a, b) }",
        "acc += 1.0",
        "let p = dot(a, b)\n    acc += p",
    ],
)
def test_loops_that_do_more(statement):
    """Scaled, conditional, mixed or no products at all."""
    assert not adds(statement)


def test_a_dot_outside_the_loops_counts_too():
    """A kernel with a product of its own behind the loop is not one that only adds up."""
    text = CELL.replace("STATEMENT", "acc += dot(a, b)").replace("acc + other", "acc + dot(other, acc)")
    assert not only_adds(ph.compile(text, name="cell").k.typed({}))
