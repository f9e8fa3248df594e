"""The operators of the language on arrays of one dtype: wrapping integers, truncating division,
16-bit floats computed in f32 and rounded once.

Divisors of zero and shifts past the width are the caller's to refuse; here they give some value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.dtypes import F32, DType, Kind
from phobos_nb.language.meaning.conversion import numpy_dtype

Array = NDArray[Any]


def _quotient(left: Array, right: Array) -> Array:
    """Integer division that truncates."""
    safe = np.where(right == 0, right.dtype.type(1), right)
    floor = np.floor_divide(left, safe)
    inexact = np.not_equal(floor * safe, left)
    return floor + (inexact & ((left < 0) != (safe < 0))).astype(floor.dtype)


def _remainder(left: Array, right: Array) -> Array:
    """The remainder of truncating division: it has the dividend's sign."""
    if left.dtype.kind in "iu":
        right = np.where(right == 0, right.dtype.type(1), right)
    return np.fmod(left, right)


Operator = Callable[[Any, Any], Any]

_BOTH: dict[str, Operator] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "%": _remainder,
}
_INTEGERS: dict[str, Operator] = {
    **_BOTH,
    "/": _quotient,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    "<<": np.left_shift,
    ">>": np.right_shift,
}
_FLOATS: dict[str, Operator] = {**_BOTH, "/": np.true_divide}
_COMPARISONS: dict[str, Operator] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "~": operator.invert,
    "!": np.logical_not,
}


def binary(op: str, left: Array, right: Array, dtype: DType) -> Array:
    """An arithmetic or bit operator; the operands and the result are of `dtype`."""
    if not dtype.is_float:
        return _INTEGERS[op](left, right)
    if dtype.bits > 16:
        return _FLOATS[op](left, right)
    wide = numpy_dtype(F32)
    return _FLOATS[op](left.astype(wide), right.astype(wide)).astype(numpy_dtype(dtype))


def compare(op: str, left: Array, right: Array) -> Array:
    """A comparison; NaN is unequal to everything and unordered."""
    return _COMPARISONS[op](left, right)


def unary(op: str, operand: Array) -> Array:
    """Negation (integers wrap), complement, logical not."""
    return _UNARY[op](operand)


def forbidden(op: str, right: Array, dtype: DType) -> Array | None:
    """Where the right operand of an integer operator has no result; None where it always has."""
    if dtype.is_float or dtype.kind is Kind.BOOL:
        return None
    if op in "/%":
        return right == 0
    if op in ("<<", ">>"):
        return (right < 0) | (right >= dtype.bits)
    return None
