"""Arrays in a CTA's shared memory: an access through one must not leave it, whatever lies behind.

Note [Views at a thread's place]
Generated code looks at a buffer from the thread's own first element, so that all slots are constants:
the view's box then runs past the buffer though no access does. Such a `memref.view` has the attribute
`phobos.offset`, the byte at which the buffer itself begins. A view without it begins its array where all
lanes begin at one byte; else only its box is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

UNNAMED = "a shared array"


@dataclass(frozen=True)
class SharedArray:
    """An array from byte `start` of a CTA's `memory` bytes on, row-major; `name` where it is known."""

    start: int
    shape: tuple[int, ...]
    itemsize: int
    memory: int
    name: str = ""

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """First and last element that exist, counted in elements from the CTA's first byte."""
        first = self.start // self.itemsize
        return first, min(first + math.prod(self.shape), self.memory // self.itemsize) - 1

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Elements from one index of an axis to the next."""
        return tuple(math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))

    def index_of(self, offset: int) -> tuple[int, ...]:
        """The index of the element `offset` elements from the CTA's first byte."""
        return tuple(split_offset(offset - self.bounds[0], self.strides))

    @property
    def described(self) -> str:
        """Name and extents."""
        return described(self.name, self.shape)

    @property
    def span(self) -> str:
        """Its bytes."""
        return f"{self.start} to {self.start + math.prod(self.shape) * self.itemsize - 1}"

    def covers(self, start: int, end: int) -> bool:
        """Whether the bytes from `start` to before `end` are its own."""
        return self.start <= start and end <= self.start + math.prod(self.shape) * self.itemsize

    def holds(self, index: tuple[int, ...]) -> bool:
        """Whether an index lies within the extents."""
        return all(0 <= i < n for i, n in zip(index, self.shape, strict=True))


def split_offset(offset: Any, strides: Sequence[int]) -> list[Any]:
    """The index, on each axis, of the element `offset` behind the first: an int or one per lane."""
    index: list[Any] = []
    for stride in strides:
        index.append(offset // max(1, stride))
        offset = offset % max(1, stride)
    return index


def indexed(name: str, index: Sequence[int]) -> str:
    """How an element of an array is written."""
    return f"{name}[{', '.join(map(str, index))}]"


def left_array(name: str, shape: tuple[int, ...], index: tuple[int, ...]) -> str:
    """How to say that an access of an element left its array."""
    return f"{indexed(name, index)}, outside {described(name, shape)}"


def described(name: str, shape: tuple[int, ...]) -> str:
    """An array by its name, if it is known, and its extents."""
    extents = " x ".join(map(str, shape)) or "1"
    array = f"`{name}`" if name else UNNAMED
    return f"{array} of {extents} element{'' if extents == '1' else 's'}"
