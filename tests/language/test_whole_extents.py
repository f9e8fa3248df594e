"""`:` on a run-time extent: walked in chunks, with the values of the whole (LANGUAGE section 3)."""

from __future__ import annotations

import numpy as np
import pytest

from phobos_nb.builtins import table
from phobos_nb.language import typed as t
from phobos_nb.language.meaning import run
from phobos_nb.language.walk import statements
from tests.language.programs import body_errors, typed

TWO = "X: tensor<f32>[M, N], Y: tensor<f32>[N, M], c: tensor<f32>[N], d: tensor<f32>[M]"


def arrays(m: int, n: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(m * 1000 + n)
    shapes = {"X": (m, n), "Y": (n, m), "c": (n,), "d": (m,)}
    return {k: random.standard_normal(s).astype(np.float32) for k, s in shapes.items()}


def after(statements: str, m: int, n: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The arrays before and after a kernel of these statements."""
    before = arrays(m, n)
    values = {k: v.copy() for k, v in before.items()}
    run(typed(f"kernel k({TWO}) {{\n{statements}\n}}"), values, (1, 1, 1), builtins=table())
    return before, values


SHAPES = [(1, 1), (3, 5), (40, 70), (2, 3000), (1030, 33)]


@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_softmax_of_whole_rows(m: int, n: int):
    """Softmax written as its formula, over rows of any length, partial rows of the tile included."""
    text = "let x = X[0 :+ 4, :]\nlet m = rowmax(x)\nX[0 :+ 4, :] = exp(x - m) / rowsum(exp(x - m))"
    before, values = after(text, m, n)
    x = before["X"][:4].astype(np.float64)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(values["X"][:4], e / e.sum(1, keepdims=True), rtol=1e-4)
    np.testing.assert_array_equal(values["X"][4:], before["X"][4:])


@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_elementwise(m: int, n: int):
    """Rows, columns, both axes, transposes and compound stores."""
    text = (
        "Y[:, :] = transpose(X[:, :]) + 1.0\nc[:] = c[:] * X[0, :] + X[0, 0 :+ 1]\n"
        "d[:] += X[:, 0]\nX[0, :] = 2.0"
    )
    before, values = after(text, m, n)
    x, c, d = before["X"], before["c"], before["d"]
    np.testing.assert_array_equal(values["Y"], x.T + np.float32(1))
    np.testing.assert_array_equal(values["c"], c * x[0] + x[0, 0])
    np.testing.assert_array_equal(values["d"], d + x[:, 0])
    np.testing.assert_array_equal(values["X"][0], 2.0)


@pytest.mark.parametrize("name", ["rowsum", "rowmax", "rowmin", "colsum", "colmax", "colmin"])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 70), (200, 40)])
def test_reductions_leave_out_what_is_past_the_end(name: str, m: int, n: int):
    """Positions past the end take no part, whatever the reduced expression makes of zero."""
    axis = 1 if name.startswith("row") else 0
    part = "0 :+ 1, :" if axis else ":, 0 :+ 1"
    before, values = after(f"c[0 :+ 1] = flat({name}(cos(X[{part}]) - 2.0))", m, n)
    x = before["X"][:1] if axis else before["X"][:, :1]
    reduce = {"sum": np.sum, "max": np.max, "min": np.min}[name[3:]]
    np.testing.assert_allclose(values["c"][0], reduce(np.cos(x.astype(np.float64)) - 2), rtol=1e-5)


def test_what_is_the_same_for_all_chunks_is_read_before_any_is_stored():
    """`X[0, :] / X[0, 0 :+ 1]` divides every chunk by the old first element."""
    before, values = after("X[0, :] = X[0, :] / X[0, 0 :+ 1]", 2, 5000)
    np.testing.assert_array_equal(values["X"][0], before["X"][0] / before["X"][0, 0])


def test_positions_of_a_whole_view_are_evaluated_once():
    """A view of a whole row stays at its row."""
    before, values = after("var i = 1\nlet v = X[i, :]\ni = 0\nc[:] = v", 3, 40)
    np.testing.assert_array_equal(values["c"], before["X"][1])


def test_padded_whole_views():
    """`pad` of a whole slice is a view like any other."""
    _, values = after("let v = pad(X[-1, :], 7.0)\nc[:] = v", 3, 40)
    assert (values["c"] == 7).all()


def test_an_empty_extent_has_the_identity():
    """The sum over no elements is zero, and no element is stored."""
    _, values = after("d[0 :+ 1] = flat(rowsum(X[0 :+ 1, :]))", 2, 0)
    assert values["d"][0] == 0


def test_a_fixed_extent_is_one_tile():
    """Once the symbol is fixed, `:` is an ordinary slice without a loop."""
    text = "kernel k(X: tensor<f32>[M, N]) { X[0, :] = X[0, :] + 1.0 }"
    assert any(isinstance(s, t.For) for s in statements(typed(text).body))
    assert not any(isinstance(s, t.For) for s in statements(typed(text, N=64).body))


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("Y[:, 0] = X[:, 0]", [("PH201", 2, 11)]),
        ("c[:] = c[:] + d[:]", [("PH201", 2, 8)]),
        ("X[:, 0] = X[0, :]", [("PH207", 2, 11)]),
        ("var v = X[0 :+ 4, :]", [("PH207", 2, 19)]),
        ("let v = X[0 :+ 4, :]\nlet w = v + 1.0", [("PH207", 3, 9)]),
        ("let v = X[0 :+ 4, :]\nX[0 :+ 4, 0 :+ 4] = v", [("PH207", 3, 21)]),
        ("c[:] = dot(X[0 :+ 1, :], Y[:, 0 :+ 1])", [("PH207", 2, 8)]),
        ("c[:] = flat(cumsum(X[:, :]))", [("PH207", 2, 13)]),
        ("let v = X[0 :+ 4, :]\nv = 1.0", [("PH103", 3, 1)]),
        ("let v = X[0 :+ 4, :]\nlet w = v[0, 0]", [("PH205", 3, 9)]),
        ("if ctx.thread < 3 {\nc[:] = 1.0\n}", [("PH301", 3, 1)]),
    ],
)
def test_refused(statements: str, expected: list[tuple[str, int, int]]):
    """Where the extent must be a constant, or chunks would disturb each other, the error says so."""
    assert body_errors(statements, TWO) == expected
