"""Operators and conversions on arrays, by section 2 of the language."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from phobos_nb.dtypes import BF16, BOOL, F16, F32, F64, I8, I32, I64, U8, DType
from phobos_nb.language.meaning.arithmetic import binary, compare, unary
from phobos_nb.language.meaning.conversion import convert, numpy_dtype


def test_integers_wrap() -> None:
    """Sums, products, negation and shifts in two's complement."""
    big = np.array([2**31 - 1], np.int32)
    with np.errstate(all="ignore"):
        assert binary("+", big, np.ones(1, np.int32), I32)[0] == -(2**31)
        assert binary("*", big, np.full(1, 2, np.int32), I32)[0] == -2
        assert unary("-", np.full(1, -128, np.int8))[0] == -128
        assert binary("<<", np.ones(1, np.int32), np.full(1, 31, np.int32), I32)[0] == -(2**31)


def test_division_truncates_and_remainder_follows_the_dividend() -> None:
    """All sign pairs, and the most negative number by -1."""
    a, b = np.array([7, -7, 7, -7], np.int32), np.array([2, 2, -2, -2], np.int32)
    assert binary("/", a, b, I32).tolist() == [3, -3, -3, 3]
    assert binary("%", a, b, I32).tolist() == [1, -1, 1, -1]
    with np.errstate(all="ignore"):
        assert binary("/", np.full(1, -(2**31), np.int32), np.full(1, -1, np.int32), I32)[0] == -(2**31)
    assert binary("%", np.array([-7.5]), np.array([2.0]), F64)[0] == -1.5


def test_right_shift_is_arithmetic_on_signed_types() -> None:
    """-8 >> 1 is -4 in i8, 248 >> 1 is 124 in u8."""
    assert binary(">>", np.full(1, -8, np.int8), np.ones(1, np.int8), I8)[0] == -4
    assert binary(">>", np.full(1, 248, np.uint8), np.ones(1, np.uint8), U8)[0] == 124


def test_nan_is_unordered() -> None:
    """Only `!=` holds with NaN."""
    nan, one = np.array([np.nan]), np.array([1.0])
    held = {op for op in ("==", "!=", "<", "<=", ">", ">=") if compare(op, nan, one)[0]}
    assert held == {"!="}


@pytest.mark.parametrize("dtype", [F16, BF16])
def test_sixteen_bit_floats_round_once_per_operation(dtype: DType) -> None:
    """Every operator equals the f32 result rounded to the type, for random operands."""
    kind = numpy_dtype(dtype)
    a, b = np.random.default_rng(1).standard_normal((2, 500)).astype(kind)
    x, y = a.astype(np.float32), b.astype(np.float32)
    for op, exact in (("+", x + y), ("-", x - y), ("*", x * y), ("/", x / y)):
        assert np.array_equal(binary(op, a, b, dtype), exact.astype(kind))


def test_floats_become_integers_by_truncation_and_saturation() -> None:
    """NaN is 0, values past the range are its ends, fractions are dropped toward zero."""
    x = np.array([1.9, -1.9, np.nan, np.inf, -np.inf, 3e9, 1e30])
    assert convert(x, F64, I32).tolist() == [1, -1, 0, 2**31 - 1, -(2**31), 2**31 - 1, 2**31 - 1]
    assert convert(x, F64, U8).tolist() == [1, 0, 0, 255, 0, 255, 255]
    ends = convert(x[3:5].astype(np.float32), F32, I64)
    assert ends.tolist() == [2**63 - 1, -(2**63)]


def test_integers_become_the_nearest_float() -> None:
    """16777217 in f32 ties to even; in bf16 a large i64 rounds once, not through f32."""
    assert convert(np.int32(16777217), I32, F32) == np.float32(16777216)
    exact = 2**24 + 2**16 + 1  # just above half way between bf16 neighbours, a tie after f32
    assert convert(np.array([exact]), I64, BF16)[0] == ml_dtypes.bfloat16(2**24 + 2**17)


def test_f64_to_bf16_rounds_once() -> None:
    """1 + 2**-8 + 2**-40 is above the tie: through f32 it would fall back to 1."""
    assert convert(np.array([1 + 2.0**-8 + 2.0**-40]), F64, BF16)[0] == ml_dtypes.bfloat16(1 + 2.0**-7)
    with np.errstate(over="ignore"):
        assert convert(np.array([1e300]), F64, BF16)[0] == np.inf


def test_bool_conversions() -> None:
    """Bool is `!= 0`, NaN included; true is 1."""
    assert convert(np.array([0.0, -0.0, np.nan, 0.5]), F64, BOOL).tolist() == [False, False, True, True]
    assert convert(np.array([True, False]), BOOL, F16).tolist() == [1.0, 0.0]
