"""Arithmetic as the GPU does it: widths, roundings, NaN, saturation, and what is reported."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import phobos_nb as ph
from phobos_nb.simulate.numerics import fma, maximum, minimum, saturate
from phobos_nb.simulate.ops.division import divide
from phobos_nb.simulate.ops.integers import wrap

F32 = st.floats(width=32, allow_nan=False, allow_infinity=False)


@settings(deadline=None)
@given(F32, F32, F32)
def test_fma_of_f32_rounds_once(a, b, c):
    """Fma equals the exact sum rounded to f32, but for ties that f64 could not tell from near ones."""
    from fractions import Fraction

    exact = Fraction(a) * Fraction(b) + Fraction(c)
    got = float(fma(*(np.float32(x) for x in (a, b, c)), np.dtype(np.float32)))
    if abs(exact) < Fraction(float(np.finfo(np.float32).max)):
        below, above = np.nextafter(np.float32(got), np.float32([-np.inf, np.inf]))
        error = abs(Fraction(got) - exact)
        half = max(Fraction(float(above)) - Fraction(got), Fraction(got) - Fraction(float(below))) / 2
        assert error <= half * (1 + Fraction(1, 2**28))


def test_fma_of_f64_keeps_the_low_bits():
    """The product is not rounded before the sum."""
    a = 1.0 + 2.0**-30
    got = fma(np.array([a]), np.array([a]), np.array([-1.0 - 2.0**-29]), np.dtype(np.float64))
    assert got.tolist() == [2.0**-60]
    assert fma(1e300, 1e300, np.float64(0), np.dtype(np.float64)) == math.inf


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_fma_is_one_rounding_of_the_f32_range(dtype):
    """F16 and bf16: 1.5 * 1.5 + tiny is rounded once to the narrow type."""
    d = np.dtype(dtype)
    got = fma(*(np.array([x], d) for x in (1.5, 1.5, 2.0**-6)), d)
    assert got.dtype == d
    assert float(got[0]) == float(np.float64(2.25 + 2.0**-6).astype(d))


def test_maximum_and_minimum():
    """NaN wins in every operand order; +0 lies above -0."""
    nan = np.float32(np.nan)
    x = np.array([1, nan, 0.0, -0.0], np.float32)
    y = np.array([nan, 1, -0.0, 0.0], np.float32)
    assert np.isnan(maximum(x, y)[:2]).all()
    assert np.isnan(minimum(x, y)[:2]).all()
    assert not np.signbit(maximum(x, y)[2:]).any()
    assert np.signbit(minimum(x, y)[2:]).all()


@pytest.mark.parametrize(
    ("value", "signed", "unsigned"),
    [(1e20, 2**31 - 1, 2**32 - 1), (-1e20, -(2**31), 0), (np.nan, 0, 0), (-1.9, -1, 0), (7.9, 7, 7)],
)
def test_saturating_conversion(value, signed, unsigned):
    """Floats truncate and clamp to the integer's range; NaN gives 0."""
    i32 = np.dtype(np.int32)
    assert int(saturate(np.float32(value), i32, signed=True)) == signed
    assert int(saturate(np.float32(value), i32, signed=False).view(np.uint32)) == unsigned


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1).filter(bool))
def test_division_truncates(x, y):
    """Quotient and rest of i32 as C defines them, in Python integers and in arrays alike."""
    i32 = np.dtype(np.int32)
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    for part, wanted in (("quotient", quotient), ("rest", x - quotient * y)):
        wanted = wrap(wanted, i32)
        assert divide(x, y, part, i32, signed=True) == wanted
        if (x, y) != (-(2**31), -1):
            arrays = np.array([x], np.int32), np.array([y], np.int32)
            assert divide(*arrays, part, i32, signed=True).tolist() == [wanted]


@given(st.integers(0, 2**32 - 1), st.integers(1, 2**32 - 1))
def test_unsigned_division(x, y):
    """The same bits read as unsigned."""
    i32 = np.dtype(np.int32)
    a, b = wrap(x, i32), wrap(y, i32)
    assert divide(a, b, "quotient", i32, signed=False) == wrap(x // y, i32)
    arrays = np.array([a], np.int32), np.array([b], np.int32)
    assert divide(*arrays, "rest", i32, signed=False).tolist() == [wrap(x % y, i32)]


def unary(make, text, values, dtype="i32"):
    """Runs `%y = ...` of `%x` for 64 values."""
    tensors = [("a", dtype, False), ("out", dtype, True)]
    body = f"""
  %x = memref.load %a[%t] : memref<?x{dtype}>
  {text}
  memref.store %y, %out[%t] : memref<?x{dtype}>"""
    k = make(body, tensors)
    return k.run(a=values, out=np.zeros_like(values))


def test_integers_wrap(make):
    """Sums and products of i32 wrap, uniform and per lane alike."""
    text = """
  %big = arith.constant 2147483647 : i32
  %two = arith.constant 2 : i32
  %u = arith.muli %big, %two : i32
  %v = arith.addi %x, %big : i32
  %y = arith.addi %v, %u : i32"""
    values = np.arange(64, dtype=np.int32)
    wanted = [wrap(v + 2**31 - 1 - 2, np.dtype(np.int32)) for v in range(64)]
    assert unary(make, text, values).outputs["out"].tolist() == wanted


def test_division_by_zero_is_a_fault(make):
    """The lanes that divide by zero are counted and the first is named; the others are right."""
    text = "%c = arith.constant 100 : i32\n  %y = arith.divsi %c, %x : i32"
    values = np.arange(64, dtype=np.int32) % 32
    result = unary(make, text, values)
    (fault,) = result.faults
    assert (fault.kind, fault.thread, fault.count) == ("division_by_zero", 0, 2)
    assert result.outputs["out"][1:32].tolist() == [100 // v for v in range(1, 32)]


def test_a_masked_division_by_zero_is_none(make):
    """Lanes that a condition leaves out do not divide."""
    text = """
  %c = arith.constant 100 : i32 %z = arith.constant 0 : i32
  %p = arith.cmpi ne, %x, %z : i32
  %y = scf.if %p -> (i32) {
    %q = arith.divsi %c, %x : i32
    scf.yield %q : i32
  } else {
    scf.yield %z : i32
  }"""
    assert unary(make, text, np.arange(64, dtype=np.int32)).clean


def test_shift_past_the_width_is_a_fault(make):
    """Shifting an i32 by 32 or more is reported."""
    text = "%c = arith.constant 1 : i32\n  %y = arith.shli %c, %x : i32"
    (fault,) = unary(make, text, np.arange(64, dtype=np.int32)).faults
    assert (fault.kind, fault.thread, fault.count) == ("shift", 32, 32)


def test_f16_operations_round_once(make):
    """An f16 sum is the f32 sum rounded, so 2048 + 1 stays 2048 and 2048 + 3 is 2052."""
    text = """
  %c = arith.constant 2048.0 : f16
  %y = arith.addf %x, %c : f16"""
    values = np.resize(np.array([1, 3, 0.5], np.float16), 64)
    assert unary(make, text, values, "f16").outputs["out"][:3].tolist() == [2048.0, 2052.0, 2048.0]


@pytest.mark.parametrize(
    ("name", "function"), [("exp", np.exp), ("log", np.log), ("tanh", np.tanh), ("sqrt", np.sqrt)]
)
def test_math_functions_are_correctly_rounded(make, name, function):
    """Transcendental functions are the f64 value rounded to f32."""
    values = np.linspace(0.01, 8, 64, dtype=np.float32)
    got = unary(make, f"%y = math.{name} %x : f32", values, "f32").outputs["out"]
    assert (got == function(values.astype(np.float64)).astype(np.float32)).all()


def test_erf(make):
    """NumPy has no erf; the standard library's is used."""
    values = np.linspace(-3, 3, 64, dtype=np.float32)
    got = unary(make, "%y = math.erf %x : f32", values, "f32").outputs["out"]
    assert got.tolist() == [np.float32(math.erf(v)) for v in values.tolist()]


def test_shuffles(make):
    """Lanes read their partners within groups of the width; a lane outside reads itself."""
    text = """
  %w = arith.constant 8 : i32 %o = arith.constant 3 : i32
  %y, %ok = "gpu.shuffle"(%x, %o, %w) <{mode = #gpu<shuffle_mode MODE>}>
    : (i32, i32, i32) -> (i32, i1)"""
    values = np.arange(64, dtype=np.int32)
    for mode, partner in (("xor", lambda g: g ^ 3), ("up", lambda g: g - 3), ("down", lambda g: g + 3)):
        wanted = [v - v % 8 + (partner(v % 8) if 0 <= partner(v % 8) < 8 else v % 8) for v in range(64)]
        got = unary(make, text.replace("MODE", mode), values).outputs["out"].tolist()
        assert got == wanted, mode
    got = unary(make, text.replace("MODE", "idx"), values).outputs["out"].tolist()
    assert got == [v - v % 8 + 3 for v in range(64)]


def test_fma_of_f64_is_correctly_rounded():
    """Against exact fractions: cancellation, ties, and results at both ends of the range."""
    rng = np.random.default_rng(8)
    scale = rng.choice([-600, -520, -300, -30, 0, 30, 300, 500], (2000, 3))
    a, b, c = (np.ldexp(rng.uniform(1, 2, 2000), scale[:, k]) for k in range(3))
    c = np.where(rng.random(2000) < 0.5, -a * b * (1 + rng.integers(-2, 3, 2000) * 2.0**-52), c)
    got = fma(a, b, c, np.dtype(np.float64))
    for x, y, z, found in zip(a.tolist(), b.tolist(), c.tolist(), got.tolist(), strict=True):
        if not math.isfinite(z):
            assert found == z
            continue
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        try:
            wanted = float(exact)
        except OverflowError:
            wanted = math.inf if exact > 0 else -math.inf
        assert found == wanted


def test_fma_of_f64_with_infinite_products_and_zeros():
    """A product above the range meets an infinite sum as the number it is; zeros keep their sign."""
    f64 = np.dtype(np.float64)
    assert fma(-1e300, 1e300, math.inf, f64) == math.inf
    assert math.isnan(fma(math.inf, 0.0, 1.0, f64))
    assert math.copysign(1, fma(-0.0, 1.0, -0.0, f64)) == -1
    assert math.copysign(1, fma(-1.0, 1.0, 1.0, f64)) == 1


def test_conversions_of_the_language_saturate_without_a_fault():
    """`i32(x)` of what no i32 holds is the nearest one, of NaN 0, and the run is clean."""
    kernel = ph.compile(
        "@launch(32)\nkernel k(X: tensor<f32>[N], Y: tensor<i32>[N]) {"
        " Y[ctx.thread] = i32(X[ctx.thread]) }"
    ).k
    x = np.array([1e20, -1e20, np.nan, np.inf], np.float32)
    result = kernel.simulate(x, np.zeros(4, np.int32), grid=1)
    assert result.clean
    assert result.outputs["Y"].tolist() == [2**31 - 1, -(2**31), 0, 2**31 - 1]
