"""Ranges, exactness and errors of the language's operators, conversions and functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.fuzz.values import (
    BITS,
    FLOATS,
    INTEGERS,
    SIGNIFICAND,
    Shape,
    Unfit,
    Value,
    integer,
    integer_range,
    rounded,
    stretch,
    ulp,
)


def mixed(left: str, right: str) -> str:
    """The type in which two values that are not literals meet (LANGUAGE section 2)."""
    if left == right:
        return left
    if left in FLOATS and right in FLOATS:
        wider = left if BITS[left] > BITS[right] else right
        return "f32" if BITS[left] == BITS[right] else wider
    if left in FLOATS or right in FLOATS:
        one = left if left in FLOATS else right
        return "f32" if BITS[one] == 16 else one
    if "index" in (left, right):
        return "i64" if "i64" in (left, right) else "index"
    if BITS[left] == BITS[right]:
        return "i32"
    return left if BITS[left] > BITS[right] else right


def joined(text: str, dtype: str, *operands: Value, atom: bool = False) -> Value:
    """A value of all operands' shape and level, nothing known of its range yet."""
    shape = stretch(*(v.shape for v in operands))
    return Value(
        text,
        dtype,
        shape,
        special=any(v.special for v in operands),
        level=operands[0].over(*operands[1:]),
        atom=atom,
    )


def same(*values: Value) -> None:
    """Demand that every implementation has the same bits: what follows is not continuous."""
    if any(v.error for v in values):
        raise Unfit


def convert(value: Value, dtype: str, text: str | None = None) -> Value:
    """A conversion, written as a call unless `text` says how."""
    out = replace(
        value,
        text=f"{dtype}({value.text})" if text is None else text,
        dtype=dtype,
        atom=True,
        constant=False,
    )
    if dtype == value.dtype:
        return value if text is None else out
    if dtype == "bool":
        same(value)
        return replace(out, low=0, high=1, grain=1, error=0.0, special=False)
    if dtype in FLOATS:
        return rounded(out, value.low, value.high, value.grain, value.error)
    if value.dtype in FLOATS:
        same(value)
        return _saturated(out, value)
    return integer(out, value.low, value.high)


def _saturated(out: Value, value: Value) -> Value:
    least, most = integer_range(out.dtype)
    if value.special:
        return integer(out, least, most)
    low, high = (min(max(math.trunc(x), least), most) for x in (value.low, value.high))
    return integer(replace(out, special=False), low, high)


# Operators ---------------------------------------------------------------------------------------


def binary(op: str, left: Value, right: Value, dtype: str, text: str | None = None) -> Value:
    """`left op right`, both of `dtype` after their conversion."""
    a, b = convert(left, dtype), convert(right, dtype)
    out = joined(text or f"{left.operand} {op} {right.operand}", dtype, left, right)
    return _FLOAT[op](out, a, b) if dtype in FLOATS else _integer_binary(op, out, a, b)


def _corners(function: Callable[[float, float], float], a: Value, b: Value) -> tuple[float, float]:
    found = [function(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return min(found), max(found)


def _grid(function: Callable[[float, float], float], a: Value, b: Value) -> float | None:
    return None if a.grain is None or b.grain is None else function(a.grain, b.grain)


def _add(out: Value, a: Value, b: Value) -> Value:
    return rounded(out, a.low + b.low, a.high + b.high, _grid(min, a, b), a.error + b.error)


def _subtract(out: Value, a: Value, b: Value) -> Value:
    return rounded(out, a.low - b.high, a.high - b.low, _grid(min, a, b), a.error + b.error)


def _times(x: float, y: float) -> float:
    return x * y


def _multiply(out: Value, a: Value, b: Value) -> Value:
    error = a.magnitude * b.error + b.magnitude * a.error + a.error * b.error
    return rounded(out, *_corners(_times, a, b), _grid(_times, a, b), error)


def _divide(out: Value, a: Value, b: Value) -> Value:
    nearest = min(abs(b.low), abs(b.high))
    if b.low <= 0 <= b.high or nearest < 0.2 or b.error > 0.1 * nearest or b.special:
        raise Unfit
    low, high = _corners(lambda x, y: x / y, a, b)
    if a.special:
        low, high = min(low, 0.0), max(high, 0.0)
    error = (a.error + max(abs(low), abs(high)) * b.error) / (nearest - b.error)
    return rounded(out, low, high, None, error)


def _remainder(out: Value, a: Value, b: Value) -> Value:
    same(a, b)
    if b.low <= 0 <= b.high or min(abs(b.low), abs(b.high)) < 0.2 or b.special or a.special:
        raise Unfit
    return rounded(out, -b.magnitude, b.magnitude, _grid(min, a, b), 0.0)


_FLOAT = {"+": _add, "-": _subtract, "*": _multiply, "/": _divide, "%": _remainder}


def _integer_binary(op: str, out: Value, a: Value, b: Value) -> Value:
    if op in "+-*":
        function = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": _times}[op]
        return integer(out, *_corners(function, a, b))
    if op in "/%":
        if b.low <= 0 <= b.high or b.high == -1:
            raise Unfit
        if op == "/":
            return integer(out, -a.magnitude, a.magnitude)
        return integer(out, 0 if a.low >= 0 else -b.magnitude, b.magnitude)
    if op in ("<<", ">>"):
        return _shifted(op, out, a, b)
    return _bitwise(op, out, a, b)


def _shifted(op: str, out: Value, a: Value, b: Value) -> Value:
    if b.low < 0 or b.high >= min(BITS[out.dtype], 32):
        raise Unfit
    if op == "<<":
        return integer(out, *_corners(lambda x, y: int(x) << int(y), a, b))
    return integer(out, min(a.low, 0), max(a.high, 0))


def _bitwise(op: str, out: Value, a: Value, b: Value) -> Value:
    if op == "&" and (a.low >= 0 or b.low >= 0):
        return integer(out, 0, min(v.high for v in (a, b) if v.low >= 0))
    if a.low >= 0 and b.low >= 0:
        return integer(out, 0, (1 << int(max(a.high, b.high)).bit_length()) - 1)
    bits = max(int(a.magnitude).bit_length(), int(b.magnitude).bit_length())
    return integer(out, -(1 << bits), (1 << bits) - 1)


def negative(value: Value) -> Value:
    """`-value`."""
    out = replace(value, text=f"-{value.operand}", atom=False, constant=False)
    if value.dtype in FLOATS:
        return replace(out, low=-value.high, high=-value.low)
    return integer(out, -value.high, -value.low)


def complement(value: Value) -> Value:
    """`~value`."""
    out = replace(value, text=f"~{value.operand}", atom=False, constant=False)
    if value.dtype == "u8":
        return integer(out, 0, 255)
    return integer(out, -value.high - 1, -value.low - 1)


def comparison(op: str, left: Value, right: Value, dtype: str) -> Value:
    """`left op right`, a bool."""
    same(convert(left, dtype), convert(right, dtype))
    return boolean(f"{left.operand} {op} {right.operand}", left, right)


def boolean(text: str, *operands: Value, atom: bool = False) -> Value:
    """A bool of the operands."""
    same(*operands)
    out = joined(text, "bool", *operands, atom=atom)
    return replace(out, low=0, high=1, grain=1, special=False)


def either(text: str, dtype: str, first: Value, second: Value, *others: Value) -> Value:
    """One of two values, element by element; `others` only decide."""
    a, b = convert(first, dtype), convert(second, dtype)
    out = joined(text, dtype, first, second, *others, atom=True)
    out = replace(out, special=first.special or second.special)
    low, high = min(a.low, b.low), max(a.high, b.high)
    if dtype in FLOATS:
        return rounded(out, low, high, _grid(min, a, b), max(a.error, b.error))
    return replace(out, low=low, high=high, grain=1)


# Functions ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Function:
    """A float function: the operands it takes here, its range there, and the slope's bound."""

    domain: tuple[float, float]
    image: Callable[[float, float], tuple[float, float]]
    slope: Callable[[float, float], float]


def _rising(function: Callable[[float], float]) -> Callable[[float, float], tuple[float, float]]:
    return lambda low, high: (function(low), function(high))


def _within(low: float, high: float) -> Callable[[float, float], tuple[float, float]]:
    return lambda a, b: (low, high)


FUNCTIONS = {
    "exp": Function((-8, 8), _rising(math.exp), lambda low, high: math.exp(high)),
    "exp2": Function(
        (-10, 10),
        _rising(math.exp2 if hasattr(math, "exp2") else lambda x: 2.0**x),
        lambda low, high: 2.0**high,
    ),
    "log": Function((0.05, 1e6), _rising(math.log), lambda low, high: 1 / low),
    "log2": Function((0.05, 1e6), _rising(math.log2), lambda low, high: 1.5 / low),
    "sqrt": Function((0.05, 1e6), _rising(math.sqrt), lambda low, high: 0.5 / math.sqrt(low)),
    "rsqrt": Function(
        (0.05, 1e6), lambda low, high: (high**-0.5, low**-0.5), lambda low, high: 0.5 * low**-1.5
    ),
    "tanh": Function((-1e4, 1e4), _within(-1, 1), lambda low, high: 1.0),
    "sin": Function((-50, 50), _within(-1, 1), lambda low, high: 1.0),
    "cos": Function((-50, 50), _within(-1, 1), lambda low, high: 1.0),
    "erf": Function((-1e4, 1e4), _within(-1, 1), lambda low, high: 1.2),
    "sigmoid": Function((-80, 80), _within(0, 1), lambda low, high: 0.25),
}
ULPS = 8
"""Units in the last place by which two right implementations of a function may differ."""


def function(name: str, value: Value) -> Value:
    """A transcendental function of a float."""
    known = FUNCTIONS[name]
    low, high = value.low - value.error, value.high + value.error
    if low < known.domain[0] or high > known.domain[1] or value.special:
        return _beyond(name, value)
    out = joined(f"{name}({value.text})", value.dtype, value, atom=True)
    image = known.image(low, high)
    error = known.slope(low, high) * value.error + ULPS * ulp(value.dtype, max(map(abs, image)))
    if value.dtype in ("f16", "bf16"):
        error = known.slope(low, high) * value.error + ulp(value.dtype, max(map(abs, image)))
    return rounded(out, *image, None, error)


def _beyond(name: str, value: Value) -> Value:
    """A function outside the domain where it is tame: NaN and infinities, of exact small multiples."""
    same(value)
    if value.grain is None or value.grain < 0.25 or value.magnitude > 4:
        raise Unfit
    out = joined(f"{name}({value.text})", value.dtype, value, atom=True)
    return rounded(replace(out, special=True), -64, 64, None, 2 * ULPS * ulp(value.dtype, 64))


def power(base: Value, exponent: Value) -> Value:
    """`pow(base, exponent)` of exact operands, the base positive."""
    same(base, exponent)
    out = joined(f"pow({base.text}, {exponent.text})", base.dtype, base, exponent, atom=True)
    if base.low < 0.1 or base.special or exponent.special:
        coarse = all(
            v.grain is not None and v.grain >= 0.25 and v.magnitude <= 2 for v in (base, exponent)
        )
        if not coarse:
            raise Unfit
        return rounded(replace(out, special=True), -16, 16, None, 4 * ULPS * ulp(base.dtype, 16))
    if base.high > 20 or exponent.magnitude > 3:
        raise Unfit
    low, high = _corners(math.pow, base, exponent)
    low, high = min(low, 1.0), max(high, 1.0)
    return rounded(out, low, high, None, 2 * ULPS * ulp(base.dtype, high))


def whole(name: str, value: Value) -> Value:
    """`round`, `floor` or `ceil`."""
    same(value)
    out = joined(f"{name}({value.text})", value.dtype, value, atom=True)
    return rounded(out, math.floor(value.low), math.ceil(value.high), 1.0, 0.0)


def absolute(value: Value) -> Value:
    """`abs(value)`."""
    out = joined(f"abs({value.text})", value.dtype, value, atom=True)
    low = 0 if value.low <= 0 <= value.high else min(abs(value.low), abs(value.high))
    if value.dtype in FLOATS:
        return rounded(out, max(0, low - value.error), value.magnitude, value.grain, value.error)
    return integer(out, low, value.magnitude)


def fused(a: Value, b: Value, c: Value) -> Value:
    """`fma(a, b, c)` of three values of one type."""
    text = f"fma({a.text}, {b.text}, {c.text})"
    return replace(binary("+", binary("*", a, b, a.dtype), c, a.dtype), text=text, atom=True)


# Sums --------------------------------------------------------------------------------------------


def sum_dtype(dtype: str) -> str:
    """The type of a sum of elements of `dtype`."""
    return {"f16": "f32", "bf16": "f32", "i8": "i32", "u8": "i32"}.get(dtype, dtype)


def total(text: str, value: Value, count: int, shape: Shape, *, running: bool = False) -> Value:
    """A sum of `count` elements; `running`: of the first ones, any number up to that."""
    dtype = sum_dtype(value.dtype)
    out = replace(value, text=text, dtype=dtype, shape=shape, atom=True, constant=False)
    low, high = count * value.low, count * value.high
    if running:
        low, high = min(low, value.low), max(high, value.high)
    if dtype in INTEGERS:
        return integer(out, low, high)
    return _summed(out, low, high, value.grain, count * value.error, count, value.magnitude)


def _summed(
    out: Value, low: float, high: float, grain: float | None, error: float, count: int, magnitude: float
) -> Value:
    exact = grain is not None and count * magnitude <= grain * 2.0 ** SIGNIFICAND[out.dtype]
    if not exact:
        if out.special:
            raise Unfit
        error += 2 * count * ulp(out.dtype, count * magnitude)
    return rounded(out, low, high, grain, error)


def product(text: str, left: Value, right: Value, depth: int, shape: Shape, dtype: str) -> Value:
    """A `dot` over `depth` products."""
    out = Value(text, dtype, shape, special=left.special or right.special)
    low, high = _corners(_times, left, right)
    if dtype == "i32":
        return integer(out, depth * low, depth * high)
    error = depth * (left.magnitude * right.error + right.magnitude * left.error)
    magnitude = left.magnitude * right.magnitude
    return _summed(out, depth * low, depth * high, _grid(_times, left, right), error, depth, magnitude)
