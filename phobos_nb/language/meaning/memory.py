"""Global tensors and shared arrays as the meaning sees them: NumPy arrays with masked access.

Positions outside an array are read as zero (or a pad) and never written; an index never counts from
the end. Strides are the array's own, zero and negative included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.dtypes import DType
from phobos_nb.language.meaning.conversion import numpy_dtype

Array = NDArray[Any]


@dataclass(frozen=True)
class Span:
    """Positions `start` to `start + length` of an axis, those from `stop` on counting as outside."""

    start: int
    length: int
    stop: int | None = None

    def inside(self, extent: int) -> tuple[int, int]:
        """The first position and the one after the last that lie inside an axis of `extent`."""
        stop = extent if self.stop is None or self.stop > extent else self.stop
        last, first = self.start + self.length, max(self.start, 0)
        return first, max(first, min(last, stop))


@dataclass(frozen=True)
class Memory:
    """An array under its element type; `array` is written in place."""

    name: str
    dtype: DType
    array: Array

    def read(self, indices: Sequence[Array]) -> Array:
        """The elements at `indices` (one array per axis, stretched together), zero outside."""
        where = np.broadcast_arrays(*indices)
        inside = self.inside(where)
        if self.array.size == 0:
            return np.zeros(inside.shape, self.array.dtype)
        safe = tuple(np.where(inside, i, 0) for i in where)
        return np.where(inside, self.array[safe], self.array.dtype.type(0))

    def write(self, indices: Sequence[Array], values: Array, active: Array | None) -> None:
        """Set the elements at `indices` where inside and `active`; of equal indices the last wins."""
        *where, values = np.broadcast_arrays(*indices, values)
        inside = self.inside(where)
        keep = inside if active is None else inside & active
        if np.any(keep):
            self.array[tuple(i[keep] for i in where)] = values[keep]

    def inside(self, indices: Sequence[Array]) -> Array:
        """Which positions lie inside the array."""
        checks = [(i >= 0) & (i < n) for i, n in zip(indices, self.array.shape, strict=True)]
        return np.asarray(np.logical_and.reduce(checks))

    def read_box(self, box: Sequence[Span], pad: Any = 0) -> Array:
        """A fresh array of the box's lengths, `pad` where it lies outside."""
        ranges = self._ranges(box)
        part = self.array[tuple(slice(a, b) for a, b in ranges)]
        if part.shape == tuple(s.length for s in box):
            return part.copy()
        out = np.full([s.length for s in box], pad, self.array.dtype)
        out[_within(box, ranges)] = part
        return out

    def write_box(self, box: Sequence[Span], values: Array) -> None:
        """Set the part of the box that lies inside; `values` has the box's lengths."""
        ranges = self._ranges(box)
        self.array[tuple(slice(a, b) for a, b in ranges)] = values[_within(box, ranges)]

    def is_partial(self, box: Sequence[Span]) -> bool:
        """Whether some position of the box lies outside the array."""
        return any(b - a < s.length for s, (a, b) in zip(box, self._ranges(box), strict=True))

    def _ranges(self, box: Sequence[Span]) -> list[tuple[int, int]]:
        """The part of the box inside the array, per axis."""
        return [s.inside(n) for s, n in zip(box, self.array.shape, strict=True)]


def _within(box: Sequence[Span], ranges: Sequence[tuple[int, int]]) -> tuple[slice, ...]:
    """Where the ranges lie in the box itself."""
    return tuple(
        slice(a - s.start, b - s.start) if b > a else slice(0, 0)
        for s, (a, b) in zip(box, ranges, strict=True)
    )


def shared_memory(name: str, dtype: DType, shape: tuple[int, ...]) -> Memory:
    """An author's shared array; floats hold NaN until they are written."""
    fill = np.nan if dtype.is_float else 0
    return Memory(name, dtype, np.full(shape, fill, numpy_dtype(dtype)))
