"""Arithmetic with the roundings of the GPU code."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from phobos_nb.simulate.values import Array, Bools, DTypeLike, Value, is_array

F32 = np.dtype(np.float32)
F64 = np.dtype(np.float64)


def is_narrow(dtype: DTypeLike) -> bool:
    """Whether a float type is computed in f32 and rounded once."""
    return dtype.itemsize == 2


def as_type(value: Value, dtype: DTypeLike) -> Any:
    """A value as array or NumPy scalar of a type."""
    return value.astype(dtype) if is_array(value) else dtype.type(value)


def in_f32(function: Callable[..., Any], dtype: DTypeLike) -> Callable[..., Any]:
    """A float function for elements of `dtype`: f16 and bf16 through f32 with one rounding."""
    if not is_narrow(dtype):
        return function

    def narrow(*values: Value) -> Any:
        return as_type(function(*(as_type(v, F32) for v in values)), dtype)

    return narrow


def in_f64(function: Callable[..., Any], dtype: DTypeLike) -> Callable[..., Any]:
    """A transcendental function: computed in f64, rounded once to `dtype`."""

    def rounded(*values: Value) -> Any:
        return as_type(function(*(as_type(v, F64) for v in values)), dtype)

    return function if dtype == F64 else rounded


def fma(a: Value, b: Value, c: Value, dtype: DTypeLike) -> Any:
    """`a * b + c` with one rounding.

    The product of two f32 or narrower is exact in f64, so f64 arithmetic and a rounding to `dtype`
    differ from the true value only where the f64 sum is itself a tie that had been rounded.
    """
    if dtype == F64:
        return _fma_f64(a, b, c)
    return as_type(as_type(a, F64) * as_type(b, F64) + as_type(c, F64), dtype)


_SPLIT = 134217729.0
_SAFE = (2.0**-400, 2.0**400)
"""Magnitudes of f64 whose products and their errors neither overflow nor underflow."""


def _fma_f64(a: Any, b: Any, c: Any) -> Any:
    """Fma of f64 by error-free products and sums and one rounding to odd; fractions outside `_SAFE`.

    Source: S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms
    using rounding to odd", IEEE Transactions on Computers 57(4), 2008.
    """
    scalar = all(np.ndim(v) == 0 for v in (a, b, c))
    a, b, c = np.broadcast_arrays(*(np.atleast_1d(np.asarray(v, F64)) for v in (a, b, c)))
    high, low = _exact_product(a, b)
    middle, least = _exact_sum(c, low)
    top, rest = _exact_sum(high, middle)
    found = np.asarray(top + _sum_to_odd(rest, least))
    found = np.where(found == 0, a * b + c, found)
    safe = np.ones(found.shape, np.bool_)
    for v in (a, b, c):
        size = np.abs(v)
        safe &= ((size > _SAFE[0]) & (size < _SAFE[1])) | (v == 0)
    for at in np.flatnonzero(~safe).tolist():
        found.flat[at] = _fma_of_fractions(*(float(v.flat[at]) for v in (a, b, c)))
    return found[0] if scalar else found


def _exact_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded product and its error (Dekker)."""
    product = a * b
    a1 = a * _SPLIT - (a * _SPLIT - a)
    b1 = b * _SPLIT - (b * _SPLIT - b)
    a2, b2 = a - a1, b - b1
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def _exact_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _sum_to_odd(a: Array, b: Array) -> Array:
    """The sum, rounded to the neighbour whose last bit is 1 where it is not exact."""
    total, error = _exact_sum(a, b)
    bits = np.ascontiguousarray(total).view(np.int64)
    inexact = (error != 0) & (bits & 1 == 0)
    outward = np.signbit(error) == np.signbit(total)
    return np.where(inexact, np.where(outward, bits + 1, bits - 1), bits).view(np.float64)


def _fma_of_fractions(a: float, b: float, c: float) -> float:
    """One fma, exactly; also for infinities, NaN, zeros and results that overflow or underflow."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def maximum(a: Value, b: Value) -> Any:
    """The larger; NaN if either is; +0 above -0."""
    larger: Array = np.asarray(np.maximum(a, b))
    zeros = _zeros(a, b)
    return np.where(zeros, np.add(a, b), larger) if zeros.any() else larger


def _zeros(a: Value, b: Value) -> Bools:
    """Where both are zero, of whatever sign."""
    return np.asarray((a == 0) & (b == 0))


def minimum(a: Value, b: Value) -> Any:
    """The smaller; NaN if either is; -0 below +0."""
    smaller: Array = np.asarray(np.minimum(a, b))
    zeros = _zeros(a, b)
    return (
        np.where(zeros, np.negative(np.add(np.negative(a), np.negative(b))), smaller)
        if zeros.any()
        else smaller
    )


def saturate(value: Value, target: DTypeLike, *, signed: bool) -> Any:
    """A float truncated to an integer, clamped to its range; NaN gives 0."""
    bits = target.itemsize * 8
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    wide = np.trunc(np.asarray(value, F64))
    kind = np.dtype(f"{'i' if signed else 'u'}{target.itemsize}")
    inside = (wide > low) & (wide < high)
    safe = np.where(inside, wide, 0.0).astype(kind)
    clamped = np.where(wide >= high, kind.type(high), np.where(wide <= low, kind.type(low), safe))
    return np.where(np.isnan(wide), kind.type(0), clamped).astype(kind).view(target)


erf: Callable[[Any], Any] = np.vectorize(math.erf, otypes=[np.float64])
"""The error function; NumPy has none."""
