"""Elementwise built-ins: rounding, NaN, signed zeros, types and their mixing."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from phobos_nb.dtypes import F16, F32, F64, I32, INDEX
from tests.builtins.calls import checked, evaluated, number, of, refused

NAN = np.nan
FUNCTIONS = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}
TYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_rounded_from_f64(name: str, dtype: type) -> None:
    """Each function is the float64 one rounded to the operand's type (16-bit through f32)."""
    x = np.linspace(0.05, 6, 77).astype(dtype)
    exact = FUNCTIONS[name](x.astype(np.float64))
    working = np.float64 if dtype is np.float64 else np.float32
    assert np.array_equal(evaluated(name, x), exact.astype(working).astype(dtype))


def test_functions_have_their_limits() -> None:
    """log(0), rsqrt(0), exp(1000), sqrt(-1), erf(inf)."""
    one = np.float32
    assert evaluated("log", one(0)) == -np.inf
    assert evaluated("rsqrt", one(0)) == np.inf
    assert evaluated("exp", one(1000)) == np.inf
    assert np.isnan(evaluated("sqrt", one(-1)))
    assert evaluated("erf", one(np.inf)) == 1.0
    assert evaluated("erf", one(0.5)) == np.float32(0.5204998778130465)


def test_round_is_half_to_even() -> None:
    """0.5, 1.5, 2.5, -0.5 round to 0, 2, 2, -0."""
    out = evaluated("round", np.array([0.5, 1.5, 2.5, -0.5], np.float32))
    assert out.tolist() == [0, 2, 2, 0]
    assert np.signbit(out[3])


@pytest.mark.parametrize("name", ["max", "tmax", "min", "tmin"])
def test_min_and_max_propagate_nan_in_every_order(name: str) -> None:
    """NaN wins on either side; +0 is above -0 whatever the order."""
    a = np.array([NAN, 1, NAN, 0.0, -0.0, 3], np.float32)
    b = np.array([1, NAN, NAN, -0.0, 0.0, 2], np.float32)
    for out in (evaluated(name, a, b), evaluated(name, b, a)):
        assert np.isnan(out[:3]).all()
        assert np.signbit(out[3:5]).all() == ("min" in name)
        assert out[5] == (2 if "min" in name else 3)


def test_abs_of_the_most_negative_integer_wraps() -> None:
    """abs(-2**31) is itself in two's complement."""
    assert evaluated("abs", np.int32(-(2**31))) == -(2**31)


def _exact_fma(a: float, b: float, c: float) -> Fraction:
    return Fraction(a) * Fraction(b) + Fraction(c)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fma_rounds_once(dtype: type) -> None:
    """No float is nearer to the exact a * b + c than the result, cancellation included."""
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((2, 3000)).astype(dtype)
    c = np.where(rng.random(3000) < 0.5, -(a * b), rng.standard_normal(3000)).astype(dtype)
    out = evaluated("fma", a, b, c)
    for x, y, z, r in zip(a.tolist(), b.tolist(), c.tolist(), out, strict=True):
        exact = _exact_fma(x, y, z)
        error = abs(Fraction(float(r)) - exact)
        for near in (np.nextafter(r, dtype(np.inf)), np.nextafter(r, dtype(-np.inf))):
            assert error <= abs(Fraction(float(near)) - exact)


def test_fma_avoids_double_rounding() -> None:
    """1 + 2**-11 + 2**-24 + 2**-60 lies just above a tie of f32: it rounds up, but through f64 down."""
    a, b, c = np.float32(1 + 2.0**-12), np.float32(1 + 2.0**-12), np.float32(2.0**-60)
    assert evaluated("fma", a, b, c) == np.float32(1 + 2.0**-11 + 2.0**-23)
    assert evaluated("fma", a, b, np.float32(0)) == np.float32(1 + 2.0**-11)


def test_fma_overflows_and_keeps_special_values() -> None:
    """Inf stays inf, inf * 0 is NaN, huge products overflow, in f64 too."""
    for dtype in (np.float32, np.float64):
        big = np.finfo(dtype).max
        assert evaluated("fma", big, dtype(2), dtype(0)) == np.inf
        assert evaluated("fma", dtype(np.inf), dtype(2), dtype(1)) == np.inf
        assert np.isnan(evaluated("fma", dtype(np.inf), dtype(0), dtype(1)))
        assert evaluated("fma", big, dtype(1), dtype(0)) == big


def test_where_picks_by_the_condition_and_stretches() -> None:
    """A column condition with a row and a scalar gives the full tile."""
    c = np.array([[True], [False]])
    row = np.array([[1, 2, 3]], np.float32)
    assert evaluated("where", c, row, np.float32(9)).tolist() == [[1, 2, 3], [9, 9, 9]]


def test_operands_meet_in_a_common_dtype() -> None:
    """Literals adapt; f16 with bf16 is f32; an integer with f16 is f32; wider floats win."""
    dtypes = {
        ("f16", 1.0): F16,
        ("i32", 1): I32,
        ("f16", "bf16"): F32,
        ("f16", "i32"): F32,
        ("f32", "f64"): F64,
        ("i8", "u8"): I32,
    }
    for (left, right), dtype in dtypes.items():
        other = of(right) if isinstance(right, str) else number(right)
        for pair in ((of(left), other), (other, of(left))):
            assert checked("max", *pair).type.dtype == dtype


def test_a_constant_index_takes_the_type_of_the_other_integer() -> None:
    """min(i32, TILE_M) is i32; a variable index stays an index."""
    assert checked("min", of("i32"), number(64, "index")).type.dtype == I32
    assert checked("min", number(64, "index"), of("i32")).type.dtype == I32
    assert checked("min", of("index"), of("i32")).type.dtype == INDEX


def test_wrong_operands_are_named_at_their_place() -> None:
    """Counts, kinds, shapes and literals that do not fit, each with its code and span."""
    found = {
        "count": refused("exp", of("f32"), of("f32")),
        "kind": refused("exp", of("i32", 4, at=3)),
        "bool": refused("where", of("f32"), of("f32"), of("f32")),
        "shape": refused("max", of("f32", 2, 3), of("f32", 4, 3)),
        "literal": refused("max", of("f16"), number(1e6)),
        "integer": refused("max", of("u8"), number(300)),
    }
    codes = {
        "count": "PH107",
        "kind": "PH104",
        "bool": "PH104",
        "shape": "PH201",
        "literal": "PH105",
        "integer": "PH105",
    }
    assert {name: d.code for name, d in found.items()} == codes
    assert found["kind"].span == (3, 4)
    assert found["literal"].span == (5, 6)
    assert found["count"].message == "exp takes 1 argument, found 2"


@pytest.mark.parametrize(
    ("left", "right"),
    [("u8", "i8"), ("f16", "bf16"), ("i64", "i32"), ("f16", "i32")],
)
def test_built_ins_meet_as_operators_do(left, right):
    """`min(x, y)` has the dtype of `x + y` for every mix of types, and bool mixes with neither."""
    import phobos_nb as ph

    text = (
        f"kernel k(X: tensor<{left}>[N], Y: tensor<{right}>[N], A: tensor<f32>[N]) {{\n"
        "  let s = X[0 :+ 32] + Y[0 :+ 32]\n  let m = min(X[0 :+ 32], Y[0 :+ 32])\n"
        "  A[0 :+ 32] = f32(s) + f32(m)\n}"
    )
    (kernel,) = ph.compile(text)
    declared = {
        s.variable.name: s.variable.type.dtype for s in kernel.typed({}).body if hasattr(s, "variable")
    }
    assert declared["s"] == declared["m"]
