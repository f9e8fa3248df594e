"""Scalar arguments: what a Python or NumPy value becomes as a kernel's scalar parameter."""

from __future__ import annotations

import math
import operator
from typing import Any

from phobos_nb.arguments.array import is_masked
from phobos_nb.arguments.findings import Findings
from phobos_nb.contract import ScalarParameter
from phobos_nb.dtypes import SCALARS, DType, Kind

Scalar = int | float | bool

_LARGEST = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38}


def convert_scalar(parameter: ScalarParameter, value: Any, found: Findings) -> Scalar:
    """The value for a scalar parameter as int, float or bool; 0 after recording an error.

    Numbers are accepted where they mean the same: an int for a float parameter, NumPy scalars, but
    no float for an integer, no bool for a number, no array, and nothing out of the type's range.
    """
    dtype = SCALARS[parameter.dtype]
    try:
        if dtype.kind is Kind.BOOL:
            return _boolean(value)
        if _is_boolean(value) or is_masked(value):
            raise TypeError
        return _float(value) if dtype.is_float else operator.index(value)
    except TypeError:
        wanted, got = f"a scalar {dtype}", _kind(value)
        found.type_error("PH707", f"{parameter.name}: wanted {wanted}, got {got}")
        return 0
    except OverflowError:
        found.value_error(
            "PH707", f"{parameter.name}: an integer of that size is out of the range of {dtype}"
        )
        return 0


def check_range(parameter: ScalarParameter, value: Scalar, found: Findings) -> None:
    """Record an error where a converted value does not fit the parameter's type."""
    dtype = SCALARS[parameter.dtype]
    if dtype.is_float:
        if math.isfinite(value) and abs(value) > _LARGEST.get(dtype.name, math.inf):
            found.value_error("PH707", f"{parameter.name}: {value!r} is out of the range of {dtype}")
    elif dtype.is_integer:
        low, high = integer_range(dtype)
        if not low <= value <= high:
            message = f"{parameter.name}: {value} is out of the range of {dtype}, {low} .. {high}"
            found.value_error("PH707", message)


def integer_range(dtype: DType) -> tuple[int, int]:
    """The smallest and largest value of an integer type."""
    if dtype.kind is Kind.UNSIGNED:
        return 0, (1 << dtype.bits) - 1
    half = 1 << (dtype.bits - 1)
    return -half, half - 1


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _boolean(value: Any) -> bool:
    if not _is_boolean(value):
        raise TypeError
    return bool(value)


def _float(value: Any) -> float:
    if isinstance(value, float | int):
        return float(value)
    if getattr(value, "shape", None) != () or not hasattr(value, "item") or hasattr(value, "device_id"):
        raise TypeError
    if hasattr(value, "__cuda_array_interface__") or isinstance(value, str | bytes):
        raise TypeError
    plain = value.item()
    if not isinstance(plain, float | int):
        raise TypeError
    return float(plain)


def _kind(value: Any) -> str:
    shape = getattr(value, "shape", None)
    name = f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins.")
    return name if shape is None else f"{name} of shape {tuple(shape)}"
