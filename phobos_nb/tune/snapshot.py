"""Copies of a call's arrays as plain data, laid out anew in the process that measures.

The caller's arrays are read once and never handed to a kernel, so they are as they were after a search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from phobos_nb.arguments.array import ArrayDescription

Alike = tuple[int, tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Snapshot:
    """One array: its values (C-contiguous), strides in bytes, and its address modulo 256.

    same_as: the parameter that was given the very same array, empty when it is alone.
    """

    values: np.ndarray[Any, Any]
    strides: tuple[int, ...]
    offset: int
    same_as: str = ""


PITCH = 256
"""Bytes to which GPU allocations are aligned (CUDA C++ Programming Guide, "Size and Alignment")."""


def take(
    described: Mapping[str, ArrayDescription], values: Mapping[str, Any], to_host: Callable[[Any], Any]
) -> dict[str, Snapshot]:
    """Copy the arrays of a call. to_host: makes a NumPy array of one of them."""
    seen: dict[Alike, str] = {}
    found: dict[str, Snapshot] = {}
    for name, array in described.items():
        alike = array.address, array.shape, array.strides
        first = seen.setdefault(alike, name)
        host = found[first].values if first != name else np.array(to_host(values[name]), order="C")
        same_as = first if first != name else ""
        found[name] = Snapshot(host, array.strides, array.address % PITCH, same_as)
    return found


def lay_out(snapshots: Mapping[str, Snapshot], module: Any) -> dict[str, Any]:
    """Arrays with the snapshots' values, strides and alignment, of NumPy or CuPy (`module`)."""
    made: dict[str, Any] = {}
    for name, snapshot in snapshots.items():
        made[name] = made[snapshot.same_as] if snapshot.same_as else _lay_out(snapshot, module)
    return made


def _lay_out(snapshot: Snapshot, module: Any) -> Any:
    values = snapshot.values
    reach = [(n - 1) * s for n, s in zip(values.shape, snapshot.strides, strict=True) if values.size]
    below = -sum(min(0, r) for r in reach)
    size = sum(abs(r) for r in reach) + values.itemsize
    buffer = module.zeros(size + below % PITCH + 2 * PITCH, "uint8")
    start = -(-below // PITCH) * PITCH + snapshot.offset
    start += -_address(buffer) % PITCH
    if module is np:
        array = np.ndarray(values.shape, values.dtype, buffer, start, snapshot.strides)
    else:
        memory = buffer.data + start
        array = module.ndarray(values.shape, values.dtype, memory, strides=snapshot.strides)
    put(array, values, module)
    return array


def put(array: Any, values: Any, module: Any) -> None:
    """Copy a NumPy array's values into an array of `module` with the same dtype and shape."""
    if array.dtype.name == "bfloat16":  # CuPy has no such type; the bits are what counts
        array, values = array.view("uint16"), values.view("uint16")
    array[...] = module.asarray(values)


def _address(buffer: Any) -> int:
    if isinstance(buffer, np.ndarray):
        return int(buffer.__array_interface__["data"][0])
    return int(buffer.data.ptr)
