"""A description of an array: all that the checks need to know of it, wherever it lives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from phobos_nb.dtypes import SCALARS

_BY_NUMPY_NAME = {d.numpy: d.name for d in SCALARS.values()}


@dataclass(frozen=True, slots=True)
class ArrayDescription:
    """One array. `strides` are bytes, `address` is that of the element at index 0.

    dtype: the language's name, or the library's own name where the language has no such type.
    owner: what kind of array it is, for messages, such as "numpy.ndarray".
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int
    itemsize: int
    writable: bool = True
    owner: str = "array"

    @property
    def empty(self) -> bool:
        """Whether the array has no element."""
        return 0 in self.shape

    def span(self) -> tuple[int, int]:
        """The half-open range of addresses its elements lie in; (0, 0) when it is empty."""
        if self.empty:
            return 0, 0
        reach = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)]
        low = self.address + sum(min(0, r) for r in reach)
        return low, self.address + sum(max(0, r) for r in reach) + self.itemsize


def dtype_name(numpy_name: str, native: bool = True) -> str:
    """The language's name of a NumPy dtype name; the name itself, marked, where there is none."""
    if not native:
        return f"{numpy_name} in foreign byte order"
    return _BY_NUMPY_NAME.get(numpy_name, numpy_name)


def contiguous_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The byte strides of a C-contiguous array."""
    strides = [itemsize] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


def is_masked(value: object) -> bool:
    """Whether it is an array of `numpy.ma`, whose mask nothing here knows of."""
    return hasattr(value, "mask") and hasattr(value, "filled")


def describe_numpy(array: Any) -> ArrayDescription:
    """Describe a `numpy.ndarray`."""
    return ArrayDescription(
        dtype_name(array.dtype.name, array.dtype.isnative),
        tuple(array.shape),
        tuple(array.strides),
        array.__array_interface__["data"][0],
        array.itemsize,
        array.flags.writeable,
        f"{type(array).__module__.partition('.')[0]}.{type(array).__name__}",
    )
