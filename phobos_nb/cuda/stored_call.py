"""A call as plain data, so that another process makes the same launches on the same bytes."""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.grid import Grid
from phobos_nb.arguments.scalars import Scalar
from phobos_nb.contract import LaunchPlan
from phobos_nb.cuda.device_plan import DevicePlan, Prepared
from phobos_nb.cuda.driver import cupy, current_device
from phobos_nb.cuda.guard import PAIRS
from phobos_nb.cuda.loading import load_kernel

PITCH = 256
"""Bytes to which GPU allocations are aligned (CUDA C++ Programming Guide, "Size and Alignment")."""

TO_DEVICE, TO_HOST = 1, 2
"""cudaMemcpyKind of driver_types.h."""


@dataclass(frozen=True)
class Region:
    """Bytes from address `low` on; arrays that share memory lie in one region."""

    low: int
    content: bytes

    @property
    def high(self) -> int:
        """The address after the last byte."""
        return self.low + len(self.content)


@dataclass(frozen=True)
class StoredCall:
    """One call: its plan, the code of every launch, what was solved, and the memory behind its arrays.

    code: a cubin, or PTX text, per launch. scalars: as their parameters want them, in source order.
    """

    plan: LaunchPlan
    code: tuple[bytes, ...]
    extents: Mapping[str, int]
    grid: Grid
    in_place: PAIRS
    arrays: Mapping[str, ArrayDescription]
    scalars: tuple[Scalar, ...]
    regions: tuple[Region, ...]

    def save(self, path: Path) -> None:
        """Write it to a file for the same version of this package on this machine."""
        path.write_bytes(pickle.dumps(self))

    def launch(self) -> None:
        """Make the launches on copies of the regions in this process's current GPU, and wait."""
        arrays, _memory = self._placed()
        grids = self.plan.grids(self.grid, self.extents)
        launches = zip(self.plan.launches, self.code, grids, strict=True)
        loaded = [(load_kernel(code, x.contract), grid) for x, code, grid in launches]
        prepared = Prepared(self.plan, (), self.extents, self.grid, self.in_place, synchronize=True)
        plan = DevicePlan(prepared, arrays, current_device(), loaded)
        plan.run(tuple(a.address for a in arrays.values()), self.scalars, 0)

    def _placed(self) -> tuple[dict[str, ArrayDescription], list[Any]]:
        """The arrays where their memory is here, with the alignment they had, and what owns it."""
        owners = [cupy().cuda.alloc(len(r.content) + 2 * PITCH) for r in self.regions]
        shifts: list[int] = []
        for region, owner in zip(self.regions, owners, strict=True):
            address = owner.ptr + (region.low - owner.ptr) % PITCH
            cupy().cuda.runtime.memcpy(address, _address(region.content), len(region.content), TO_DEVICE)
            shifts.append(address - region.low)
        return {n: self._moved(a, shifts) for n, a in self.arrays.items()}, owners

    def _moved(self, array: ArrayDescription, shifts: Sequence[int]) -> ArrayDescription:
        low, _ = array.span()
        for region, shift in zip(self.regions, shifts, strict=True):
            if not array.empty and region.low <= low < region.high:
                return replace(array, address=array.address + shift)
        return array


def read_call(path: Path) -> StoredCall:
    """A call that `StoredCall.save` wrote."""
    return cast(StoredCall, pickle.loads(path.read_bytes()))


def _address(content: bytes) -> int:
    return ctypes.cast(ctypes.c_char_p(content), ctypes.c_void_p).value or 0


Read = Callable[[int, int], bytes]
"""read(address, size): bytes of the memory that a call's arrays are in."""


def regions(arrays: Mapping[str, ArrayDescription], read: Read) -> tuple[Region, ...]:
    """The memory of some arrays, each byte once."""
    merged: list[list[int]] = []
    for low, high in sorted(a.span() for a in arrays.values() if not a.empty):
        if merged and low < merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], high)
        else:
            merged.append([low, high])
    return tuple(Region(low, read(low, high - low)) for low, high in merged)


def read_device(address: int, size: int) -> bytes:
    """Bytes of GPU memory."""
    content = ctypes.create_string_buffer(size)
    cupy().cuda.runtime.memcpy(ctypes.addressof(content), address, size, TO_HOST)
    return content.raw


def read_host(address: int, size: int) -> bytes:
    """Bytes of this process's own memory."""
    return ctypes.string_at(address, size)
