"""The grid that follows from the stores (LANGUAGE section 4)."""

from __future__ import annotations

import pytest

from phobos_nb.contract import GridRule, GridTerm
from tests.language.programs import GEMM, body, typed

PARAMETERS = "A: tensor<f32>[M, N], x: tensor<f32>[N], w: tensor<i32>[P], n: i32"


def grid(statements: str) -> GridRule:
    return body(statements, PARAMETERS).grid


def test_gemm():
    """Each axis of the GEMM's grid covers the extent that its stores step through."""
    rule = typed(GEMM, TILE_M=64, TILE_N=128).grid
    assert rule.axes == ((GridTerm("M", 64),), (GridTerm("N", 128),), ())
    assert rule.shape({"M": 100, "N": 256}) == (2, 2, 1)


@pytest.mark.parametrize(
    ("statements", "axes"),
    [
        ("let i = ctx.block.x * 256 + ctx.thread\nx[i] = 1.0", ((GridTerm("N", 256),), (), ())),
        ("x[ctx.thread + 8 * ctx.block.y] = 1.0", ((), (GridTerm("N", 8),), ())),
        (
            "let v = ctx.block.x\nlet b = (v * 4 + 1) * 8\nx[b :+ 4] = 0.0",
            ((GridTerm("N", 32),), (), ()),
        ),
        ("x[program_id(2)] = 1.0", ((), (), (GridTerm("N", 1),))),
        ("atomic_add(w, ctx.block.x * 4 + n, 1)", ((GridTerm("P", 4),), (), ())),
        (
            "let b = ctx.block.x * 8\nA[b :+ 8, 0 :+ 4] += 1.0\nx[b :+ 8] = 1.0",
            ((GridTerm("M", 8), GridTerm("N", 8)), (), ()),
        ),
        (
            "for i in range(ctx.block.x * 64, ctx.block.x * 64 + 64) { x[i] = 1.0 }",
            ((GridTerm("N", 64),), (), ()),
        ),
        (
            "for i in range(4) { x[ctx.block.x * 64 + i * 16 :+ 16] = 1.0 }",
            ((GridTerm("N", 64),), (), ()),
        ),
        ("var b = ctx.block.x * 16\nx[b :+ 16] = 1.0", ((GridTerm("N", 16),), (), ())),
        ("f(x, ctx.block.x * 32)", ((GridTerm("N", 32),), (), ())),
        ("x[0] = 1.0", ((), (), ())),
        ("x[i32(ctx.block.x) * 4] = 1.0", ((GridTerm("N", 4),), (), ())),
    ],
)
def test_steps(statements: str, axes: tuple[tuple[GridTerm, ...], ...]):
    """Steps are found through lets, copies, loops, functions and atomics."""
    function = "fn f(A: tensor<f32>[L], at: i64) { A[at + 1 :+ 32] = 1.0 }\n"
    rule = typed(f"{function}kernel k({PARAMETERS}) {{\n{statements}\n}}").grid
    assert rule == GridRule(axes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (
            "let a = ctx.block.x\nx[0] = f32(a)",
            "no store is indexed by ctx.block.x * step",
        ),
        ("x[ctx.block.x * n] = 1.0", "line 2 is not `ctx.block * step + c`"),
        ("x[ctx.block.x / 4] = 1.0", "line 2 is not `ctx.block * step + c`"),
        ("x[-ctx.block.x] = 1.0", "line 2 is not `ctx.block * step + c`"),
        ("x[ctx.block.x + 4 * ctx.block.y] = 1.0", "line 2 combines two axes"),
        ("x[ctx.block.x * 4] = 1.0\nA[ctx.block.x * 8, 0] = 1.0", "(4 in line 2, 8 in line 3)"),
        ("let g = ctx.blocks.x\nx[ctx.block.x * 4] = f32(g)", "line 2 reads the grid"),
    ],
)
def test_left_open(statements: str, said: str):
    """Where the stores do not settle the grid, the rule says which lines and asks for `grid=`."""
    problem = grid(statements).problem
    assert said in problem
    assert problem.endswith("give grid=")
