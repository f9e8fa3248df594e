"""What the generator knows of an expression: its type, its range, and how exactly it is determined.

Integers wrap and are always exact. A float is one of three: on a *grid* (every value is a multiple of
`grain` and sums of it stay below the significand, so any order of adding gives the same bits); *same*
(`error` 0: elementwise work on equal operands gives equal bits, but sums depend on their order); or
known up to `error`, an absolute bound on how far two right implementations can be apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "u8", "i32", "i64")
DTYPES = (*FLOATS, *INTEGERS, "bool")

BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "i8": 8, "u8": 8, "i32": 32, "i64": 64, "index": 64}
SIGNIFICAND = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
LARGEST = {"f16": 3e4, "bf16": 1e30, "f32": 1e30, "f64": 1e200}
"""Magnitudes that generated floats stay below, so that nothing overflows by chance."""
INDEX_LIMIT = 2**24

CTA, WARP, LANE = 0, 1, 2

Shape = tuple[int, ...]


class Unfit(Exception):
    """A drawn expression that would leave what the generator can judge; another is drawn."""


@dataclass(frozen=True)
class Value:
    """An expression's text with what is known of its elements.

    low, high: of finite elements. special: NaN and infinities are possible. level: which threads share
    a scalar (CTA, WARP, LANE). atom: the text needs no parentheses. constant: a name or number known
    when compiling.
    """

    text: str
    dtype: str
    shape: Shape = ()
    low: float = 0
    high: float = 0
    grain: float | None = None
    error: float = 0.0
    special: bool = False
    level: int = CTA
    atom: bool = True
    constant: bool = False

    @property
    def magnitude(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    @property
    def operand(self) -> str:
        """The text, in parentheses unless it binds tightly."""
        return self.text if self.atom else f"({self.text})"

    def named(self, name: str) -> Value:
        """The same value behind a name."""
        return replace(self, text=name, atom=True, constant=False)

    def shaped(self, shape: Shape) -> Value:
        """The same elements, stretched or rearranged."""
        return replace(self, shape=shape)

    def over(self, *others: Value) -> int:
        """The level of something computed from this and others; tiles belong to the CTA."""
        return max(v.level for v in (self, *others))


def integer_range(dtype: str) -> tuple[int, int]:
    """The smallest and largest integer of a type."""
    if dtype == "u8":
        return 0, 255
    half = 1 << (BITS[dtype] - 1)
    return -half, half - 1


def ulp(dtype: str, magnitude: float) -> float:
    """At least the distance of neighbours at a magnitude."""
    return max(magnitude * 2.0 ** (1 - SIGNIFICAND[dtype]), 2.0**-24 if dtype == "f16" else 1e-37)


def integer(value: Value, low: float, high: float) -> Value:
    """`value` with an integer range: a range that leaves the type wraps to all of it."""
    least, most = integer_range(value.dtype)
    if value.dtype == "index":
        if max(abs(low), abs(high)) > INDEX_LIMIT:
            raise Unfit
    elif low < least or high > most:
        low, high = least, most
    return replace(value, low=int(low), high=int(high), grain=1, error=0.0, special=False)


def rounded(value: Value, low: float, high: float, grain: float | None, error: float) -> Value:
    """`value` as a float operation leaves it: one more rounding, the grid kept while it fits."""
    dtype, magnitude = value.dtype, max(abs(low), abs(high))
    if magnitude > LARGEST[dtype] or not math.isfinite(error):
        raise Unfit
    if grain is not None and (grain < 2.0**-20 or magnitude > grain * 2.0 ** SIGNIFICAND[dtype]):
        grain = None
    if error:
        error += ulp(dtype, magnitude + error)
        grain = None
        if error > 0.1 * max(1.0, magnitude):
            raise Unfit
    return replace(value, low=low, high=high, grain=grain, error=error)


def stretch(*shapes: Shape) -> Shape:
    """The shape that tiles meet in, as in NumPy."""
    rank = max(len(s) for s in shapes)
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    return tuple(max(axis) for axis in zip(*padded, strict=True))


def narrower(shape: Shape) -> list[Shape]:
    """The shapes that stretch to `shape`, itself first."""
    found = [shape]
    for axis, extent in enumerate(shape):
        if extent > 1:
            found.append((*shape[:axis], 1, *shape[axis + 1 :]))
    if len(shape) > 1:
        found.append(shape[1:])
    return found
