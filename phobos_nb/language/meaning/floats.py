"""Float operations that NumPy has not, or not with the language's rules: NaN, signed zeros, fma."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def maximum(left: Array, right: Array) -> Array:
    """The larger; NaN when either is NaN; +0 is larger than -0 (IEEE 754-2019 maximum)."""
    larger = np.maximum(left, right)
    zeros = (left == 0) & (right == 0)
    if larger.dtype.kind in "iub" or not np.any(zeros):
        return larger
    return np.where(zeros, left + right, larger)


def minimum(left: Array, right: Array) -> Array:
    """The smaller; NaN when either is NaN; -0 is smaller than +0 (IEEE 754-2019 minimum)."""
    smaller = np.minimum(left, right)
    zeros = (left == 0) & (right == 0)
    if smaller.dtype.kind in "iub" or not np.any(zeros):
        return smaller
    return np.where(zeros, -((-left) + (-right)), smaller)


def fma(a: Array, b: Array, c: Array) -> Array:
    """The value a * b + c rounded once, for f32 or f64 operands of one dtype."""
    return _fma64(a, b, c) if a.dtype == np.float64 else _fma32(a, b, c)


def _fma32(a: Array, b: Array, c: Array) -> Array:
    """The product is exact in f64; the sum, rounded to odd there, rounds to f32 correctly."""
    product = a.astype(np.float64) * b.astype(np.float64)
    return _sum_to_odd(product, c.astype(np.float64)).astype(np.float32)


def _fma64(a: Array, b: Array, c: Array) -> Array:
    """Boldo and Melquiond's algorithm; where it would overflow inside, the plain expression."""
    high, low = _two_product(a, b)
    mid, tail = _two_sum(c, low)
    top, rest = _two_sum(high, mid)
    exact = top + _sum_to_odd(tail, rest)
    return np.where(np.isfinite(exact), exact, a * b + c)


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Knuth: a + b as the rounded sum and its error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Dekker: a * b as the rounded product and its error."""
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    product = a * b
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _split(a: Array) -> tuple[Array, Array]:
    """Veltkamp: the upper 26 bits and the rest."""
    scaled = a * 134217729.0
    high = scaled - (scaled - a)
    return high, a - high


def _sum_to_odd(a: Array, b: Array) -> Array:
    """The sum in f64, an inexact sum truncated with its last bit set."""
    total, error = _two_sum(a, b)
    total = np.asarray(total)
    inexact = np.isfinite(total) & np.isfinite(error) & (error != 0)
    away = np.signbit(error) != np.signbit(total)
    bits = total.view(np.int64) - away.astype(np.int64)
    return np.where(inexact, (bits | 1).view(np.float64), total)
