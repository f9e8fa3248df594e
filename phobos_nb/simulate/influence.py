"""What one number of a result depends on, found by changing the operands.

Note [Influences]
A part of an operand influences a number if some change of the part changes it: in every bit, since the
weight of a key behind `exp` may be small and there all the same. Two computations of one number read
other elements if a part clearly moves the one and leaves the other as it is, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]
Box = tuple[slice, ...]
"""A part of an operand: a range of positions along every axis."""


class Influence:
    """By how much parts of operands change one number; from `clear` on it is no matter of rounding.

    `parts` is how many were asked for.
    """

    def __init__(self, arrays: Arrays, number: Callable[[Arrays], Any], clear: float) -> None:
        self._arrays = arrays
        self._number = number
        self._clear = clear
        self._before = float(number(arrays))
        self.parts = 0

    def of(self, name: str, box: Box) -> float:
        """The change of the number when the part changes at random, 0 where no change is seen.

        Up and down, for a maximum; largely and little, since a large change is lost behind `exp`.
        """
        self.parts += 1
        largest = 0.0
        for arrays in changes(self._arrays, name, box):
            largest = max(largest, _change(self._before, float(self._number(arrays))))
            if largest > self._clear:
                break
        return largest

    def slope(self, name: str, box: Box) -> float:
        """By how much the number grows with an element: twice as much where it is read twice."""
        changed = self._arrays[name].copy()
        changed[box] += np.asarray(1, changed.dtype)
        return float(self._number({**self._arrays, name: changed})) - self._before

    def is_clear(self, change: float) -> bool:
        """Whether a change is more than rounding."""
        return change > self._clear


def _change(before: float, after: float) -> float:
    """How far apart two numbers are: infinitely if only one is finite, or NaN or of another sign."""
    if before == after or (np.isnan(before) and np.isnan(after)):
        return 0.0
    return abs(after - before) if np.isfinite(after) and np.isfinite(before) else np.inf


def changes(arrays: Arrays, name: str, box: Box) -> Iterator[Arrays]:
    """The arrays with one part of one changed, in three ways."""
    array = arrays[name]
    size = float(np.nan_to_num(np.abs(array)).max(initial=0)) + 1
    pattern = np.random.default_rng(0).uniform(-1.5, 1.5, array.shape)[box]
    for scale in (size / 8, 8 * size, -8 * size):
        changed = array.copy()
        changed[box] += (scale * pattern).astype(array.dtype)
        yield {**arrays, name: changed}


@dataclass
class Other:
    """Single elements on which two numbers depend otherwise: only `used`, only `needed`, or both."""

    extra: Box | None = None
    missing: Box | None = None
    shared: list[Box] = field(default_factory=list[Box])


def compare_influences(
    used: Influence, needed: Influence, name: str, shape: tuple[int, ...], over: Callable[[], bool]
) -> Other:
    """Elements on which one number depends clearly and the other not at all, as time allows.

    Stops at the first that only `used` depends on.
    """
    other = Other()
    parts: list[Box] = [tuple(map(slice, [0] * len(shape), shape))]
    while parts and other.extra is None and not over():
        box = parts.pop()
        a, b = used.of(name, box), needed.of(name, box)
        if not a and not b:
            continue
        halves = _halves(box)
        if halves:
            parts += halves
        elif a and b:
            other.shared.append(box)
        elif used.is_clear(a):
            other.extra = box
        elif needed.is_clear(b):
            other.missing = other.missing or box
    return other


def _halves(box: Box) -> list[Box]:
    """The two halves along the longest axis; none of a single element."""
    sizes = [s.stop - s.start for s in box]
    axis = int(np.argmax(sizes)) if sizes else 0
    if not sizes or sizes[axis] <= 1:
        return []
    start, stop = box[axis].start, box[axis].stop
    middle = (start + stop) // 2
    return [
        (*box[:axis], part, *box[axis + 1 :]) for part in (slice(start, middle), slice(middle, stop))
    ]
