"""Conversions between the scalar types on arrays, by LANGUAGE section 2.

Float to float rounds to nearest even once; float to integer truncates, saturates, NaN gives 0;
integers wrap; to bool is `!= 0`.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from phobos_nb.dtypes import ALL, BF16, DType, Kind

Array = NDArray[Any]

_NUMPY: dict[str, np.dtype[Any]] = {
    d.name: np.dtype(ml_dtypes.bfloat16) if d is BF16 else np.dtype(d.numpy) for d in ALL.values()
}


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype that holds a scalar type; `index` is 64 bits wide."""
    return _NUMPY[dtype.name]


def convert(values: Array, source: DType, target: DType) -> Array:
    """`values` of type `source` as `target`."""
    if source == target or values.dtype == numpy_dtype(target):
        return values
    if target.kind is Kind.BOOL:
        return values != 0
    if target.is_float:
        return _to_float(values, target)
    if source.is_float:
        return _to_integer(values, numpy_dtype(target))
    return values.astype(numpy_dtype(target))


def _to_float(values: Array, target: DType) -> Array:
    if target is BF16 and values.dtype.itemsize > 4:
        values = round_to_odd(values.astype(np.float64))
    return values.astype(numpy_dtype(target))


def _to_integer(values: Array, target: np.dtype[Any]) -> Array:
    info = np.iinfo(target)
    wide = np.trunc(values.astype(np.float64))
    beyond = float(info.max) + 1.0 if info.bits < 64 else 2.0**63
    inside = (wide > float(info.min)) & (wide < beyond)
    out = np.where(inside, wide, 0.0).astype(np.int64)
    out = np.where(wide >= beyond, info.max, np.where(wide <= float(info.min), info.min, out))
    return out.astype(target)


def round_to_odd(values: Array) -> Array:
    """f64 to f32, an inexact result with its last bit set, so that a second rounding is correct.

    Source: S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved
    algorithms using rounding to odd", IEEE Transactions on Computers 57(4), 2008.
    """
    near = np.asarray(values.astype(np.float32))
    back = near.astype(np.float64)
    inexact = (back != values) & np.isfinite(values)
    toward_zero = np.where(np.abs(back) > np.abs(values), np.nextafter(near, np.float32(0)), near)
    odd = (toward_zero.view(np.uint32) | np.uint32(1)).view(np.float32)
    return np.where(inexact, odd, near)
