"""Boxes of tensors as bulk copies move them: which elements, where they land, what lies outside.

The box lies in shared memory row by row. A swizzle of 32, 64 or 128 bytes exchanges 16-byte pieces: the
piece's number within that many bytes is xor-ed with the number of the 128-byte row (CUDA driver API,
cuTensorMapEncodeTiled; CUDA C++ Programming Guide, "Swizzle modes").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phobos_nb.simulate.memory import Tensor
from phobos_nb.simulate.values import Bools, DTypeLike, Ints


@dataclass(frozen=True)
class TensorMapValue:
    """A tensor map: the tensor, a box's extents in the order of its axes, the swizzle in bytes."""

    tensor: Tensor
    box: tuple[int, ...]
    swizzle: int

    @property
    def dtype(self) -> DTypeLike:
        """Of the tensor's elements."""
        return self.tensor.dtype

    @property
    def pitch(self) -> int:
        """Bytes from one row of a box to the next in shared memory, the swizzle's at least."""
        return max(self.box[-1] * self.dtype.itemsize, self.swizzle)

    @property
    def bytes(self) -> int:
        """Bytes of shared memory that a box takes."""
        return math.prod(self.box[:-1]) * self.pitch


class Box(NamedTuple):
    """The elements of one box in its order: positions in the tensor's typed view, and which exist."""

    positions: Ints
    inside: Bools


def box_at(map_: TensorMapValue, corner: tuple[int, ...]) -> Box:
    """The box whose first element is at an index of the tensor, which may lie outside it."""
    start = map_.tensor.origin(map_.dtype, np.zeros(1, np.int64))
    positions, inside = np.int64(start), np.bool_(True)
    for axis, (first, extent) in enumerate(zip(corner, map_.box, strict=True)):
        index = (first + np.arange(extent)).reshape(-1, *[1] * (len(map_.box) - 1 - axis))
        positions = positions + index * map_.tensor.strides[axis]
        inside = inside & (index >= 0) & (index < map_.tensor.shape[axis])
    shape = map_.box
    return Box(np.broadcast_to(positions, shape).reshape(-1), np.broadcast_to(inside, shape).reshape(-1))


def landing(map_: TensorMapValue, first: int) -> Ints:
    """Offsets in a CTA's shared memory, in elements, where the elements of a box lie from `first` on."""
    size = map_.dtype.itemsize
    rows = np.arange(math.prod(map_.box[:-1])) * map_.pitch
    offsets = first * size + rows[:, None] + np.arange(map_.box[-1]) * size
    return swizzled(offsets.reshape(-1), map_.swizzle) // size


def swizzled(offsets: Ints, swizzle: int) -> Ints:
    """Byte offsets with the bits of their 16-byte pieces exchanged."""
    if not swizzle:
        return offsets
    return offsets ^ (((offsets >> 7) & (swizzle // 16 - 1)) << 4)
