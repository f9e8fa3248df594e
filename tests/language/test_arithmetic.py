"""Types of scalar and tile arithmetic, conversions and constants (LANGUAGE section 2)."""

from __future__ import annotations

import math

import pytest

from phobos_nb.language.typed import Assign, Binary, Constant, Expr, Print, StoreElement
from phobos_nb.language.types import TileType
from tests.language.programs import body, body_errors, failure

PARAMETERS = (
    "h: f16, b: bf16, f: f32, d: f64, i: i32, l: i64, c: i8, u: u8, p: bool, "
    "H: tensor<f16>[N, 8], F: tensor<f32>[N, 8], I: tensor<i32>[N], D: tensor<f64>[8]"
)


def value(expression: str) -> Expr:
    """The typed expression, as an operand of `print`."""
    (statement,) = body(f'print("{{}}", {expression})', PARAMETERS).body
    assert isinstance(statement, Print)
    return statement.arguments[0]


def dtype(expression: str) -> str:
    return str(value(expression).type)


def constant(expression: str) -> float:
    found = value(expression)
    assert isinstance(found, Constant)
    return found.value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        *[("f + d", "f64"), ("h + f", "f32"), ("h + b", "f32"), ("h * h", "f16"), ("b - b", "bf16")],
        *[("f + i", "f32"), ("h + i", "f32"), ("b + l", "f32"), ("d + i", "f64"), ("h + 2", "f16")],
        *[("b * 2", "bf16"), ("f + ctx.thread", "f32"), ("h + ctx.thread", "f32")],
        *[("i + l", "i64"), ("c + u", "i32"), ("c + c", "i8"), ("u + i", "i32"), ("c + l", "i64")],
        *[("N + i", "index"), ("i + N", "index"), ("N + l", "i64"), ("i + 1", "i32"), ("1 + c", "i8")],
        *[("N + 1", "index"), ("ctx.thread * 2", "index"), ("0.5 * h", "f16"), ("h / 3.0", "f16")],
        *[("0.5 * d", "f64"), ("0.5 * i", "f32"), ("1.5 + 1", "f32"), ("2", "index"), ("0.5", "f32")],
        *[("-h", "f16"), ("~i", "i32"), ("!p", "bool"), ("i < 3", "bool"), ("p == false", "bool")],
        *[("p && i > 0", "bool"), ("i << 2", "i32"), ("h * inf", "f16"), ("f16(f)", "f16")],
        *[("i32(p)", "i32"), ("bool(i)", "bool"), ("I[0] + 1", "i32"), ("f32(1.0) * h", "f32")],
        *[("i32(9) & 7", "i32"), ("7 - i8(3)", "i8"), ("i64(1) * 2", "i64")],
    ],
)
def test_mixed_arithmetic(expression: str, expected: str):
    """Wider float wins, f16 with bf16 gives f32, literals adapt, index is at least 32 bits."""
    assert dtype(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        *[("7 / 2", 3), ("-7 / 2", -3), ("-7 % 2", -1), ("7 % -2", 1), ("-8 >> 1", -4), ("1 << 4", 16)],
        *[("6 & 3", 2), ("6 | 1", 7), ("6 ^ 3", 5), ("~0", -1), ("2 + 3 * 4", 14), ("0x10 - 1", 15)],
        *[("1.0 / 4.0", 0.25), ("7.5 % 2.0", 1.5), ("-7.5 % 2.0", -1.5), ("1.0 / 0.0", math.inf)],
        *[("3 < 4", True), ("1.0 == 1", True), ("nan == nan", False), ("nan != nan", True)],
        *[("i8(300)", 44), ("u8(-1)", 255), ("i32(3.9)", 3), ("i32(-3.9)", -3), ("i32(nan)", 0)],
        *[("i32(1e30)", 2**31 - 1), ("u8(-5.0)", 0), ("u8(inf)", 255), ("f16(2049)", 2048.0)],
        *[("f16(1e6)", math.inf), ("bf16(257)", 256.0), ("f32(0.1)", 0.10000000149011612)],
        *[("i32(2147483647) + i32(1)", -(2**31)), ("i8(100) * i8(3)", 44), ("true && false", False)],
        *[("false && N / 0 > 1", False), ("true || I[0] > 1", True), ("!true", False)],
    ],
)
def test_constants_fold(expression: str, expected: float):
    """Constant expressions have the value that the GPU would compute."""
    assert constant(expression) == expected


def test_literals_keep_their_digits_until_they_take_a_type():
    """`1.0 / 3.0` beside an f64 is a third in f64, alone it is the nearest f32."""
    store = body("D[0] = d * (1.0 / 3.0)", PARAMETERS).body[0]
    assert isinstance(store, StoreElement)
    assert isinstance(store.value, Binary)
    assert isinstance(store.value.right, Constant)
    assert store.value.right.value == 1.0 / 3.0
    assert constant("1.0 / 3.0") == 0.3333333432674408


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("let x = h * 70000.0", [("PH105", 2, 13)]),
        ("let x: i8 = 128", [("PH105", 2, 13)]),
        ("let x: u8 = -1", [("PH105", 2, 13)]),
        ("let x = c + 200", [("PH105", 2, 13)]),
        ("let x: i32 = 1.5", [("PH104", 2, 14)]),
        ("let x: i32 = f", [("PH104", 2, 14)]),
        ("let x: f32 = p", [("PH104", 2, 14)]),
        ("let x: bool = i", [("PH104", 2, 15)]),
        ("let x = p + 1", [("PH115", 2, 9)]),
        ("let x = p * p", [("PH115", 2, 9)]),
        ("let x = -p", [("PH115", 2, 10)]),
        ("let x = p < p", [("PH115", 2, 9)]),
        ("let x = !i", [("PH104", 2, 10)]),
        ("let x = ~f", [("PH104", 2, 10)]),
        ("let x = f & 1", [("PH104", 2, 9)]),
        ("let x = f << 1", [("PH104", 2, 9)]),
        ("let x = i && p", [("PH106", 2, 9)]),
        ("let x = 1 / 0", [("PH116", 2, 13)]),
        ("let x = i % 0", [("PH116", 2, 13)]),
        ("let x = i << 40", [("PH116", 2, 14)]),
        ("I[0] = 2.5", [("PH104", 2, 8)]),
        ("if i { }", [("PH106", 2, 4)]),
        ("while f { }", [("PH106", 2, 7)]),
        ("let x = f32(1, 2)", [("PH107", 2, 9)]),
        ('let x = "a"', [("PH104", 2, 9)]),
        ("let x = barrier()", [("PH104", 2, 9)]),
        ("let x = F", [("PH104", 2, 9)]),
        ("let x = f32", [("PH101", 2, 9)]),
        ("let x: f31 = 1.0", [("PH117", 2, 8)]),
    ],
)
def test_refused(statements: str, expected: list[tuple[str, int, int]]):
    """What the types do not allow is reported where it stands."""
    assert body_errors(statements, PARAMETERS) == expected


def test_stores_convert():
    """A store converts any number to the element type; a variable only what loses no fraction."""
    stores = [s for s in body("I[0] = f\nH[0, 0] = d", PARAMETERS).body if isinstance(s, StoreElement)]
    assert [str(s.value.type) for s in stores] == ["i32", "f16"]


def test_tiles_stretch_as_in_numpy():
    """Trailing axes align, extents of 1 stretch, scalars broadcast."""
    values = ("F[0 :+ 4, 0 :+ 8]", "t + F[0, 0 :+ 8]", "rowmax(t) * t", "f * t", "t > 0.0")
    text = "\n".join(f"var {n} = {v}" for n, v in zip("trmsq", values, strict=True))
    kinds = [s.variable.type for s in body(text, PARAMETERS).body if isinstance(s, Assign)]
    assert [k.shape for k in kinds if isinstance(k, TileType)] == [(4, 8)] * 5
    assert str(kinds[-1]) == "tile<bool>[4, 8]"


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("let t = F[0 :+ 4, 0 :+ 8] + F[0 :+ 3, 0 :+ 8]", [("PH201", 2, 9)]),
        ("var t: tile<f32>[4, 4] = F[0 :+ 4, 0 :+ 8]", [("PH201", 2, 26)]),
        ("F[0 :+ 4, 0 :+ 8] = F[0 :+ 5, 0 :+ 8]", [("PH201", 2, 21)]),
        ("F[0 :+ 3, 0] = rowsum(F[0 :+ 4, 0 :+ 8])", [("PH201", 2, 16)]),
        ("F[0, 0] = F[0 :+ 4, 0 :+ 8]", [("PH206", 2, 11)]),
        ("var s = 1.0\ns = F[0 :+ 4, 0 :+ 8]", [("PH206", 3, 5)]),
        ("if F[0 :+ 4, 0 :+ 8] > 0.0 { }", [("PH206", 2, 4)]),
        ("var t: tile<f32>[i] = 0.0", [("PH109", 2, 18)]),
        ("var t: tile<f32>[0] = 0.0", [("PH105", 2, 18)]),
    ],
)
def test_shapes_that_do_not_fit(statements: str, expected: list[tuple[str, int, int]]):
    """Shapes that do not stretch and tiles where scalars belong are reported where they stand."""
    assert body_errors(statements, PARAMETERS) == expected


def test_a_row_is_a_rank_1_tile_where_one_is_wanted():
    """A [1, n] tile is stored to a rank-1 slice and kept by a rank-1 variable."""
    parameters = "A: tensor<f32>[M, 8], o: tensor<f32>[N]"
    text = "o[0 :+ 8] = colsum(A[0 :+ 4, :])\nvar t: tile<f32>[8] = colsum(A[0 :+ 4, :])"
    assert body_errors(text, parameters) == []


def test_a_column_suggests_flat():
    """A [R, 1] tile stored to a rank-1 slice is told about `flat`."""
    parameters = "A: tensor<f32>[M, 8], o: tensor<f32>[M]"
    error = failure(f"kernel k({parameters}) {{ o[0 :+ 4] = rowsum(A[0 :+ 4, :]) }}")
    assert error is not None
    assert "`flat(t)`" in error.diagnostics[0].help
