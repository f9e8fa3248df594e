"""Integers of the program: kept signed, wrapped to their width."""

from __future__ import annotations

from typing import Any

import numpy as np

from phobos_nb.simulate.values import DTypeLike, Value, is_array


def wrap(number: int, dtype: DTypeLike) -> int:
    """A Python integer reduced to the width of a type, two's complement; a bool for i1."""
    number = int(number)
    if dtype.kind == "b":
        return bool(number & 1)
    half = 1 << (dtype.itemsize * 8 - 1)
    return ((number + half) & (2 * half - 1)) - half


def unsigned(value: Value, dtype: DTypeLike) -> Any:
    """The same bits read as an unsigned integer."""
    if dtype.kind == "b":
        return value.astype(np.uint8) if is_array(value) else int(value)
    if is_array(value):
        return value.view(f"u{dtype.itemsize}")
    return value & ((1 << dtype.itemsize * 8) - 1)
