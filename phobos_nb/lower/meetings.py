"""Which threads meet at an element in two accesses, element by element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.lower.layouts import WARP, Axis, Layout

Units = NDArray[Any]
"""[threads, n]: the numbers of the units that each thread touches, -1 where a slot touches none."""


class Meeting(IntEnum):
    """The farthest apart that two threads which touch a common element may be."""

    NEVER = 0
    THREAD = 1
    WARP = 2
    CTA = 3


@dataclass(frozen=True)
class Share:
    """Which elements of a box each thread touches: per axis those of a layout's axis.

    extents: slots at or past them touch nothing. once: of several threads that hold the same elements,
    only the first touches them.
    """

    layout: Layout
    axes: tuple[Axis, ...]
    extents: tuple[int, ...]
    once: bool = False


@dataclass(frozen=True)
class Lines:
    """How a box lies in a row of units: per axis of the box the stride, and the first unit.

    width: units of one element, next to each other.
    """

    strides: tuple[int, ...]
    start: int = 0
    width: int = 1

    def finer(self, factor: int) -> Lines:
        """The same in units of which each has `factor`."""
        strides = tuple(s * factor for s in self.strides)
        return Lines(strides, self.start * factor, self.width * factor)


Placed = tuple[Share, Lines]
"""What an access touches, and where."""


@lru_cache(maxsize=1024)
def units_of(share: Share, lines: Lines) -> Units:
    """The units that each thread touches."""
    threads = share.layout.threads
    found = np.zeros((threads, 1), np.int64)
    inside = np.ones((threads, 1), np.bool_)
    for axis, extent, stride in zip(share.axes, share.extents, lines.strides, strict=True):
        bases = np.array([axis.base(t) for t in range(threads)], np.int64)
        places = bases[:, None] + np.array(axis.offsets, np.int64)
        live = places < extent
        found = (found[:, :, None] + (places * stride)[:, None, :]).reshape(threads, -1)
        inside = (inside[:, :, None] & live[:, None, :]).reshape(threads, -1)
    if share.once:
        first = np.array([share.layout.is_first(t) for t in range(threads)])
        inside &= first[:, None]
    found = np.where(inside, found + lines.start, -1)
    if lines.width == 1:
        return found
    wide = found[:, :, None] + np.arange(lines.width)
    return np.where(found[:, :, None] < 0, -1, wide).reshape(threads, -1)


def in_one_unit(a: Lines, item_a: int, b: Lines, item_b: int) -> tuple[Lines, Lines]:
    """Lines in bytes with elements of two sizes, in the largest unit that divides both."""
    unit = gcd(item_a, item_b, a.start, b.start)
    return _in_units(a, item_a, unit), _in_units(b, item_b, unit)


def _in_units(lines: Lines, item: int, unit: int) -> Lines:
    strides = tuple(s * item // unit for s in lines.strides)
    return Lines(strides, lines.start // unit, item // unit)


@lru_cache(maxsize=4096)
def meeting(a: Placed, b: Placed) -> Meeting:
    """How far apart threads are that touch a common unit, one in each access."""
    first, second = units_of(*a), units_of(*b)
    size = int(max(first.max(initial=0), second.max(initial=0))) + 1
    low_a, high_a = _extremes(first, size)
    low_b, high_b = _extremes(second, size)
    common = (high_a >= 0) & (high_b >= 0)
    if not common.any():
        return Meeting.NEVER
    low = np.minimum(low_a, low_b)[common]
    high = np.maximum(high_a, high_b)[common]
    if (low == high).all():
        return Meeting.THREAD
    return Meeting.WARP if (low // WARP == high // WARP).all() else Meeting.CTA


def _extremes(units: Units, size: int) -> tuple[Units, Units]:
    """The lowest and the highest thread at each unit; -1 as the highest where there is none."""
    numbers = np.indices(units.shape)[0].reshape(-1)
    flat = units.reshape(-1)
    live = flat >= 0
    numbers, flat = numbers[live], flat[live]
    low, high = np.full(size, len(units)), np.full(size, -1)
    high[flat] = numbers
    low[flat[::-1]] = numbers[::-1]
    return low, high


def example(a: Placed, b: Placed) -> tuple[int, int] | None:
    """Two threads, one of each access, that touch a common unit: of two warps if any such meet.

    The lowest thread of the first access that has a partner, and its lowest partner.
    """
    first, second = units_of(*a), units_of(*b)
    size = int(max(first.max(initial=0), second.max(initial=0))) + 1
    low, high = _extremes(second, size)
    apart = meeting(a, b) is Meeting.CTA
    for thread in range(len(first)):
        own = first[thread][first[thread] >= 0]
        if _meets_other(thread, low[own], high[own], apart=apart):
            partner = _partner(thread, own, second, apart=apart)
            if partner is not None:
                return thread, partner
    return None


def _meets_other(thread: int, low: Units, high: Units, *, apart: bool) -> bool:
    grain = WARP if apart else 1
    own = thread // grain
    return bool(((high >= 0) & ((low // grain != own) | (high // grain != own))).any())


def _partner(thread: int, own: Units, second: Units, *, apart: bool) -> int | None:
    grain = WARP if apart else 1
    touching = np.isin(second, own).any(1)
    others = np.arange(len(second)) // grain != thread // grain
    found = np.flatnonzero(touching & others)
    return int(found[0]) if len(found) else None


def row_major(extents: Sequence[int], order: Sequence[int] | None = None) -> tuple[int, ...]:
    """The stride of each axis of a box whose axes lie in `order`, outermost first, in a dense array.

    extents: those of the array's axes, in its order.
    """
    order = tuple(range(len(extents))) if order is None else tuple(order)
    strides, stride = dict[int, int](), 1
    for axis, extent in zip(reversed(order), reversed(tuple(extents)), strict=True):
        strides[axis] = stride
        stride *= extent
    return tuple(strides[a] for a in range(len(order)))
