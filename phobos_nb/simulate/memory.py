"""The memory of a launch: the caller's tensors byte for byte, and shared memory per CTA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 256
"""Bytes to which an array that owns its memory is taken to be aligned, as cudaMalloc aligns."""

Array = NDArray[Any]
Space = Literal["global", "shared", "private"]
POISON = 0xFF
"""The byte that memory holds before it is written: NaN as a float, -1 as an integer."""


class Allocation:
    """A run of bytes that threads can address, with the typed views of it.

    `size` is what belongs to it; the buffer behind is padded to whole 256-byte units.
    `address` is the byte address of its start as the cache and the banks see it. `stride` is the
    bytes of one CTA's part, where there are such parts.
    """

    def __init__(self, size: int, address: int = 0, poison: int = POISON, stride: int = 0) -> None:
        self.size = size
        self.stride = stride or max(size, 1)
        self.address = address
        self.buffer = np.full(-(-max(size, 1) // ALIGNMENT) * ALIGNMENT, poison, np.uint8)
        self._views: dict[Any, Array] = {}

    def typed(self, dtype: np.dtype[Any]) -> Array:
        """The bytes as a flat array of `dtype`."""
        view = self._views.get(dtype)
        if view is None:
            view = self._views[dtype] = self.buffer.view(dtype)
        return view


class Memory(Protocol):
    """What a memref points into: a tensor or the CTA's shared memory. Positions are in elements."""

    name: str
    space: Space
    allocation: Allocation
    holes: bool

    def bounds(self, dtype: np.dtype[Any]) -> tuple[int, int]:
        """First and last element that may be touched, counted from the memory's own start."""
        ...

    def origin(self, dtype: np.dtype[Any], cta: NDArray[np.int64]) -> Any:
        """Where that start lies in the allocation's typed view: an int or one per lane."""
        ...

    def owns(self, offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which in-bounds elements belong to the memory; all of them unless it has `holes`."""
        ...

    def index_of(self, offset: int, itemsize: int) -> tuple[int, ...]:
        """How a person names the element `offset` elements from the start."""
        ...


class SharedMemory:
    """The shared memory of all CTAs of a chunk, one behind the other, poisoned.

    `bytes` is what each CTA may touch.
    """

    name = "shared"
    space: Space = "shared"
    holes = False

    def __init__(self, ctas: int, bytes_: int, poison: int = POISON) -> None:
        self.bytes = bytes_
        self.poison = poison
        self.stride = -(-max(bytes_, 1) // ALIGNMENT) * ALIGNMENT
        self.allocation = Allocation(ctas * self.stride, poison=poison, stride=self.stride)

    def bounds(self, dtype: np.dtype[Any]) -> tuple[int, int]:
        """The CTA's own bytes."""
        return 0, self.bytes // dtype.itemsize - 1

    def origin(self, dtype: np.dtype[Any], cta: NDArray[np.int64]) -> Any:
        """Each lane's own CTA."""
        return cta * (self.stride // dtype.itemsize)

    def owns(self, offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Everything in bounds."""
        return np.ones(offsets.shape, np.bool_)

    def index_of(self, offset: int, itemsize: int) -> tuple[int, ...]:
        """The byte offset."""
        return (offset * itemsize,)


class PrivateMemory:
    """Memory of the threads' own, one behind the other: registers or local memory on the GPU."""

    space: Space = "private"
    holes = False

    def __init__(self, name: str, elements: int, itemsize: int, poison: int) -> None:
        self.name = name or "a local array"
        self.allocation = Allocation(elements * itemsize, poison=poison)
        self.written = np.zeros(elements, np.bool_)

    def bounds(self, dtype: np.dtype[Any]) -> tuple[int, int]:
        """All of it: a thread keeps to its part by the extents of its array."""
        return 0, self.allocation.size // dtype.itemsize - 1

    def origin(self, dtype: np.dtype[Any], cta: NDArray[np.int64]) -> Any:
        """Offsets already hold the thread's part."""
        del dtype, cta
        return 0

    def owns(self, offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Everything in bounds."""
        return np.ones(offsets.shape, np.bool_)

    def index_of(self, offset: int, itemsize: int) -> tuple[int, ...]:
        """The byte offset."""
        return (offset * itemsize,)


class Tensor:
    """A parameter's array inside its allocation.

    `start` is the byte offset of the element at index 0. `low` and `high` bound the element offsets
    from there; in between, only what the array's strides reach belongs to it.
    """

    space: Space = "global"

    def __init__(self, name: str, array: Array, allocation: Allocation, start: int) -> None:
        self.name = name
        self.allocation = allocation
        self.start = start
        self.shape = array.shape
        self.dtype = array.dtype
        self.strides = tuple(s // max(1, array.itemsize) for s in array.strides)
        self.low, self.high = self._bounds()
        self.owned = self._ownership()
        self.holes = self.owned is not None

    def bounds(self, dtype: np.dtype[Any]) -> tuple[int, int]:
        """From the first to the last element of the array."""
        if dtype.itemsize != self.dtype.itemsize:
            raise TypeError(f"{self.name} of {self.dtype} read as {dtype}")
        return self.low, self.high

    def origin(self, dtype: np.dtype[Any], cta: NDArray[np.int64]) -> Any:
        """The same for every lane."""
        del cta
        return self.start // dtype.itemsize

    def owns(self, offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
        """What the strides reach."""
        if self.owned is None:
            return np.ones(offsets.shape, np.bool_)
        return self.owned.take(offsets - self.low, mode="clip")

    def _bounds(self) -> tuple[int, int]:
        if 0 in self.shape:
            return 0, -1
        spans = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)]
        return sum(s for s in spans if s < 0), sum(s for s in spans if s > 0)

    def _ownership(self) -> NDArray[np.bool_] | None:
        count = self.high - self.low + 1
        size = int(np.prod(self.shape))
        if count <= size:
            return None
        owned = np.zeros(count, np.bool_)
        view = owned[-self.low :]
        np.lib.stride_tricks.as_strided(view, self.shape, self.strides)[...] = True
        return owned

    def contents(self) -> Array:
        """A view of the tensor's elements in the simulated memory, in the caller's shape."""
        strides = tuple(s * self.dtype.itemsize for s in self.strides)
        return np.ndarray(self.shape, self.dtype, self.allocation.buffer, self.start, strides)

    def position(self, index: Sequence[int]) -> int:
        """The byte of the allocation at which an element begins."""
        offset = sum(i * s for i, s in zip(index, self.strides, strict=True))
        return self.start + offset * self.dtype.itemsize

    def index_of(self, offset: int, itemsize: int) -> tuple[int, ...]:
        """The index whose element lies `offset` elements from index 0, as near as strides tell."""
        del itemsize
        index = [0] * len(self.shape)
        rest = offset
        for axis in sorted(range(len(self.shape)), key=lambda a: -abs(self.strides[a])):
            stride = self.strides[axis]
            if stride:
                index[axis] = rest // stride if stride > 0 else -(rest // -stride)
                rest -= index[axis] * stride
        return tuple(index)


def place_tensors(arrays: Mapping[str, Array]) -> dict[str, Tensor]:
    """Copy the caller's arrays into simulated memory; arrays that overlap share an allocation.

    The memory that an array is part of is taken to begin at a multiple of 256 bytes.
    """
    spans = {name: _byte_span(a) for name, a in arrays.items()}
    tensors: dict[str, Tensor] = {}
    for group in _overlapping(spans):
        origin = min(_pointer(_root(arrays[n])) for n in group)
        low = origin + (min(spans[n][0] for n in group) - origin) // ALIGNMENT * ALIGNMENT
        high = max(spans[n][1] for n in group)
        allocation = Allocation(high - low, low - origin)
        for name in group:
            array = arrays[name]
            tensor = Tensor(name, array, allocation, _pointer(array) - low if array.size else 0)
            if array.size:
                tensor.contents()[...] = array
            tensors[name] = tensor
    return {name: tensors[name] for name in arrays}


def _overlapping(spans: Mapping[str, tuple[int, int]]) -> list[list[str]]:
    """Names grouped so that spans of different groups do not meet."""
    groups: list[list[str]] = []
    end = -1
    for name in sorted(spans, key=lambda n: spans[n]):
        low, high = spans[name]
        if groups and low < end:
            groups[-1].append(name)
        else:
            groups.append([name])
        end = max(end, high)
    return groups


def _byte_span(array: Array) -> tuple[int, int]:
    """First byte and one past the last byte of an array."""
    address = _pointer(array)
    if not array.size:
        return address, address
    spans = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
    low = sum(s for s in spans if s < 0)
    return address + low, address + sum(s for s in spans if s > 0) + array.itemsize


def _pointer(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _root(array: Array) -> Array:
    """The array that owns the memory, as far as NumPy knows it."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
