"""Arithmetic with the roundings of the GPU code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from phobos_nb.simulate.values import Array, Bools, DTypeLike, Value, choose, is_array

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


def _fma_f64(a: Any, b: Any, c: Any) -> Any:
    """Fma of f64 by error-free products and sums (Dekker, Knuth); plain where they overflow."""
    product = a * b
    a1 = a * _SPLIT - (a * _SPLIT - a)
    b1 = b * _SPLIT - (b * _SPLIT - b)
    a2, b2 = a - a1, b - b1
    low = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)
    exact: Any = total + (error + low)
    finite: Bools = np.isfinite(exact)
    return exact if np.all(finite) else choose(finite, exact, total, F64)


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
