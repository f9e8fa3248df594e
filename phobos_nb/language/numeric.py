"""Compile-time arithmetic in the language's types, with the standard library only."""

from __future__ import annotations

import math
import struct

from phobos_nb.dtypes import BF16, F16, F32, DType, Kind

Number = int | float | bool

LARGEST = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38}


def integer_range(dtype: DType) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    if dtype.kind is Kind.UNSIGNED:
        return 0, 2**dtype.bits - 1
    return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1


def wrap(value: int, dtype: DType) -> int:
    """An integer in two's complement of the type's width."""
    low, _ = integer_range(dtype)
    return (value - low) % 2**dtype.bits + low


def round_float(value: float, dtype: DType) -> float:
    """A float rounded to nearest even in the type; too large becomes infinite.

    f16 and bf16 are rounded from the f32 that their arithmetic is computed in.
    """
    if dtype == F32:
        return _round_f32(value)
    if dtype == F16:
        return _round_f16(_round_f32(value))
    if dtype == BF16:
        return _round_bf16(_round_f32(value))
    return value


def _round_f32(value: float) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def _round_f16(value: float) -> float:
    try:
        return struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def _round_bf16(value: float) -> float:
    if not math.isfinite(value):
        return value
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", rounded))[0]


def fits(value: Number, dtype: DType) -> bool:
    """Whether a constant can become `dtype` without overflow, truncation or a change of kind."""
    if isinstance(value, bool) or dtype.kind is Kind.BOOL:
        return isinstance(value, bool) and dtype.kind is Kind.BOOL
    if dtype.is_float:
        return not math.isfinite(value) or math.isfinite(round_float(to_float(value), dtype))
    low, high = integer_range(dtype)
    return isinstance(value, int) and low <= value <= high


def to_float(value: Number) -> float:
    """A number as a double; integers beyond its range become infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def convert(value: Number, dtype: DType) -> Number:
    """The conversion of LANGUAGE section 2: round, wrap, or truncate with saturation."""
    if dtype.kind is Kind.BOOL:
        return bool(value)
    if dtype.is_float:
        return round_float(to_float(value), dtype)
    if not isinstance(value, float):
        return wrap(int(value), dtype)
    if math.isnan(value):
        return 0
    low, high = integer_range(dtype)
    return (
        max(low, min(high, math.trunc(value))) if math.isfinite(value) else (high if value > 0 else low)
    )


def binary(op: str, left: Number, right: Number, dtype: DType) -> Number | None:
    """`left op right` in `dtype`, or None where it has no value (division by zero, wide shifts)."""
    if dtype.kind is Kind.BOOL:
        return {"&": left and right, "|": left or right, "^": left != right}[op]
    if dtype.is_float:
        return round_float(_float_binary(op, to_float(left), to_float(right)), dtype)
    value = _integer_binary(op, int(left), int(right), dtype)
    return None if value is None else wrap(value, dtype)


def _float_binary(op: str, left: float, right: float) -> float:
    try:
        match op:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return left / right
            case _:
                return math.fmod(left, right)
    except ZeroDivisionError:
        if left == 0 or math.isnan(left):
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1.0, right)
    except ValueError:
        return math.nan


def _integer_binary(op: str, left: int, right: int, dtype: DType) -> int | None:
    if (op in "/%" and right == 0) or (op in ("<<", ">>") and not 0 <= right < dtype.bits):
        return None
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return _truncated(left, right)
        case "%":
            return left - right * _truncated(left, right)
        case "&":
            return left & right
        case "|":
            return left | right
        case "^":
            return left ^ right
        case "<<":
            return left << right
        case _:
            return left >> right


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def compare(op: str, left: Number, right: Number) -> bool:
    """A comparison; with NaN only `!=` holds."""
    match op:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case _:
            return left >= right


def unary(op: str, value: Number, dtype: DType) -> Number:
    """`-`, `~` or `!`."""
    if op == "!":
        return not value
    if op == "~":
        return wrap(~int(value), dtype)
    return -value if dtype.is_float else wrap(-int(value), dtype)
