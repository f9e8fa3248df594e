"""The layout algebra: which thread of a CTA holds which elements of a tile.

A layout is separable. On every axis a thread's coordinate is a sum of digits of its id plus a
static list of offsets, its slots: thread t holds the elements base(t) + offset[s] of each axis, for all
combinations of slots. Register layouts of SIMT tiles, of `mma.sync` and of `wgmma` are all of this form.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

WARP = 32


@dataclass(frozen=True)
class Digit:
    """The value `(tid // divisor) % modulus * multiplier`, in elements."""

    divisor: int
    modulus: int
    multiplier: int

    def value(self, thread: int) -> int:
        """The digit's contribution to the coordinate of `thread`."""
        return thread // self.divisor % self.modulus * self.multiplier

    @property
    def in_warp(self) -> bool:
        """Whether it is a power-of-two digit of the lane, so that xor shuffles exchange it."""
        powers = _is_power(self.divisor) and _is_power(self.modulus)
        return powers and self.divisor * self.modulus <= WARP


@dataclass(frozen=True)
class Axis:
    """One axis of a layout: digits of the thread id and the offsets of the slots, ascending."""

    digits: tuple[Digit, ...] = ()
    offsets: tuple[int, ...] = (0,)

    def base(self, thread: int) -> int:
        """The coordinate of the thread's slot with offset 0."""
        return sum(d.value(thread) for d in self.digits)

    @property
    def cover(self) -> int:
        """One more than the largest coordinate that any thread holds."""
        return sum((d.modulus - 1) * d.multiplier for d in self.digits) + self.offsets[-1] + 1

    @property
    def run(self) -> int:
        """The longest power-of-two run of neighbouring slots whose first coordinate divides by it."""
        run = len(self.offsets) & -len(self.offsets)
        while run > 1 and not self._has_run(run):
            run //= 2
        return run

    def _has_run(self, run: int) -> bool:
        if any(d.multiplier % run for d in self.digits):
            return False
        return all(o == self.offsets[i - i % run] + i % run for i, o in enumerate(self.offsets)) and all(
            o % run == 0 for o in self.offsets[::run]
        )


@dataclass(frozen=True)
class Layout:
    """The owner map of one tile shape for `threads` threads, one `Axis` per tile axis."""

    shape: tuple[int, ...]
    threads: int
    axes: tuple[Axis, ...]

    @property
    def slots(self) -> tuple[int, ...]:
        """Slots per axis: the shape of the vector that each thread holds."""
        return tuple(len(a.offsets) for a in self.axes)

    @property
    def cover(self) -> tuple[int, ...]:
        """The box of coordinates that the slots of all threads reach; at least the shape."""
        return tuple(a.cover for a in self.axes)

    def overhangs(self, axis: int) -> bool:
        """Whether some slots of the axis lie past the tile, that is, are dead."""
        return self.axes[axis].cover > self.shape[axis]

    @property
    def exact(self) -> bool:
        """Whether no slot is dead."""
        return not any(self.overhangs(a) for a in range(len(self.shape)))

    @cached_property
    def digits(self) -> tuple[Digit, ...]:
        """All digits used by some axis, by rising divisor."""
        return tuple(sorted((d for a in self.axes for d in a.digits), key=lambda d: d.divisor))

    @cached_property
    def replicas(self) -> tuple[Digit, ...]:
        """The digits of the thread id that no axis uses; threads differing in them hold the same."""
        gaps: list[Digit] = []
        end = 1
        for digit in self.digits:
            if digit.divisor > end:
                gaps.append(Digit(end, digit.divisor // end, 1))
            end = digit.divisor * digit.modulus
        if self.threads > end:
            gaps.append(Digit(end, self.threads // end, 1))
        return tuple(gaps)

    @property
    def replication(self) -> int:
        """How many threads hold each element."""
        return math.prod(d.modulus for d in self.replicas)

    def is_first(self, thread: int) -> bool:
        """Whether this thread is the one of its replicas that stores."""
        return all(d.value(thread) == 0 for d in self.replicas)

    def held(self, thread: int) -> Iterator[tuple[int, ...]]:
        """The coordinates of the thread's slots in slot order, dead ones included."""
        bases = [a.base(thread) for a in self.axes]
        columns = [[b + o for o in a.offsets] for b, a in zip(bases, self.axes, strict=True)]
        return itertools.product(*columns)

    def elements(self, thread: int) -> Iterator[tuple[int, ...]]:
        """The tile elements that the thread holds, in slot order."""
        for place in self.held(thread):
            if all(c < n for c, n in zip(place, self.shape, strict=True)):
                yield place

    def same_owners(self, other: Layout) -> bool:
        """Whether every thread holds the same coordinates in the same slots under both."""
        return self.threads == other.threads and self.axes == other.axes

    def lane_masks(self, axis: int) -> tuple[int, ...]:
        """The xor masks of the lanes among which a reduction along the axis is exchanged."""
        found: list[int] = []
        for digit in self.axes[axis].digits:
            if digit.in_warp:
                found += [digit.divisor << b for b in range(digit.modulus.bit_length() - 1)]
        return tuple(sorted(found))

    def crossing_digits(self, axis: int) -> tuple[Digit, ...]:
        """The digits along which a reduction of the axis leaves the warp and needs shared scratch."""
        return tuple(d for d in self.axes[axis].digits if not d.in_warp)


def blocked(
    shape: tuple[int, ...], threads: int, vector: int = 1, *, fastest: int = -1, cap: int = 0
) -> Layout:
    """Spread a tile over the threads, neighbours along axis `fastest` first, `vector` slots at a time.

    `cap` limits the threads along the fastest axis (32 keeps a row inside a warp). The remaining
    axes follow from the innermost out; threads left over hold copies.
    """
    rank = len(shape)
    first = fastest % rank
    order = [first, *(a for a in reversed(range(rank)) if a != first)]
    axes: dict[int, Axis] = {}
    divisor = 1
    for axis in order:
        run = min(vector, _power_floor(shape[axis])) if axis == first else 1
        need = -(-shape[axis] // run)
        if axis == first and cap:
            need = min(need, cap)
        count = thread_count(need, threads // divisor)
        digits = split_at_warp(Digit(divisor, count, run))
        repeats = -(-shape[axis] // (count * run))
        offsets = tuple(i * count * run + j for i in range(repeats) for j in range(run))
        axes[axis] = Axis(digits, offsets)
        divisor *= count
    return Layout(shape, threads, tuple(axes[a] for a in range(rank)))


@dataclass(frozen=True)
class ThreadGrid:
    """How a SIMT accumulator is cut: warps x lanes, and fragments of neighbouring elements."""

    warps: tuple[int, int]
    lanes: tuple[int, int]
    fragment: tuple[int, int]


def thread_tile(shape: tuple[int, int], threads: int, grid: ThreadGrid) -> Layout:
    """The accumulator layout of a SIMT dot.

    Warps form a grid over the tile, lanes a grid inside the warp's part, lane columns fastest; a
    thread holds fragments repeated at the distance of one lane grid.
    """
    places = (
        (Digit(WARP * grid.warps[1], grid.warps[0], 0), Digit(grid.lanes[1], grid.lanes[0], 0)),
        (Digit(WARP, grid.warps[1], 0), Digit(1, grid.lanes[1], 0)),
    )
    axes: list[Axis] = []
    for axis, (warp, lane) in enumerate(places):
        fragment = grid.fragment[axis]
        pitch = lane.modulus * fragment
        repeats = max(1, -(-shape[axis] // (warp.modulus * pitch)))
        offsets = tuple(i * pitch + j for i in range(repeats) for j in range(fragment))
        digits = (
            Digit(lane.divisor, lane.modulus, fragment),
            Digit(warp.divisor, warp.modulus, repeats * pitch),
        )
        axes.append(Axis(tuple(d for d in digits if d.modulus > 1), offsets))
    return Layout(shape, threads, tuple(axes))


def stacked(layout: Layout, groups: int, threads: int) -> Layout:
    """The layout of a stack of tiles, one for each of `groups` groups of threads, one under the other.

    layout: of a tile among the threads of a group.
    """
    (height, width), (rows, columns) = layout.shape, layout.axes
    group = Digit(layout.threads, groups, height)
    digits = (*rows.digits, group) if groups > 1 else rows.digits
    return Layout((groups * height, width), threads, (Axis(digits, rows.offsets), columns))


def one_of_stack(layout: Layout, groups: int) -> Layout:
    """The layout of a group's tile, as `stacked` was given it."""
    threads, (rows, columns) = layout.threads // groups, layout.axes
    own = Axis(tuple(d for d in rows.digits if d.divisor < threads), rows.offsets)
    return Layout((layout.shape[0] // groups, layout.shape[1]), threads, (own, columns))


def held_in_stack(layout: Layout, groups: int) -> Layout:
    """The layout in which every thread holds its elements of all tiles of a stack, in their order."""
    (height, width), (rows, columns) = layout.shape, layout.axes
    offsets = tuple(g * height + o for g in range(groups) for o in rows.offsets)
    return Layout((groups * height, width), layout.threads, (Axis(rows.digits, offsets), columns))


def collapse(layout: Layout, axis: int) -> Layout:
    """The layout of the result of reducing an axis: extent 1, copied to all who shared the axis."""
    shape = tuple(1 if a == axis else n for a, n in enumerate(layout.shape))
    axes = tuple(Axis() if a == axis else x for a, x in enumerate(layout.axes))
    return Layout(shape, layout.threads, axes)


def partials(layout: Layout, axis: int) -> Layout:
    """The layout of a reduction after slots and lanes: one element for each part that is left.

    The axis keeps the digits that leave the warp, renumbered densely; its extent is the parts.
    """
    digits: list[Digit] = []
    weight = 1
    for digit in layout.crossing_digits(axis):
        digits.append(Digit(digit.divisor, digit.modulus, weight))
        weight *= digit.modulus
    shape = tuple(weight if a == axis else n for a, n in enumerate(layout.shape))
    part = Axis(tuple(digits))
    return Layout(
        shape, layout.threads, tuple(part if a == axis else x for a, x in enumerate(layout.axes))
    )


def whole_axis(layout: Layout, axis: int) -> Layout:
    """The layout in which every thread holds the whole axis in its slots, other axes unchanged."""
    whole = Axis((), tuple(range(layout.shape[axis])))
    axes = tuple(whole if a == axis else x for a, x in enumerate(layout.axes))
    return Layout(layout.shape, layout.threads, axes)


def lines(shape: tuple[int, ...], threads: int, axis: int) -> Layout:
    """One whole line along `axis` per thread, for running combinations."""
    cross = tuple(1 if a == axis else n for a, n in enumerate(shape))
    spread = blocked(cross, threads)
    return whole_axis(Layout(shape, threads, spread.axes), axis)


def permute(layout: Layout, order: tuple[int, ...]) -> Layout:
    """The layout of a transposed tile: axis i of the result is axis `order[i]` of the operand."""
    shape = tuple(layout.shape[a] for a in order)
    return Layout(shape, layout.threads, tuple(layout.axes[a] for a in order))


def stretch_source(layout: Layout, shape: tuple[int, ...]) -> Layout:
    """The layout that a tile of `shape` must have to be stretched, as NumPy does, without moving."""
    skip = len(layout.shape) - len(shape)
    axes = tuple(
        layout.axes[skip + a] if n == layout.shape[skip + a] else Axis() for a, n in enumerate(shape)
    )
    return Layout(shape, layout.threads, axes)


def split_at_warp(digit: Digit) -> tuple[Digit, ...]:
    """Cut a digit that crosses the warp into its lane part and its warp part, where it divides."""
    if digit.modulus == 1:
        return ()
    lanes = WARP // digit.divisor if WARP % digit.divisor == 0 else 1
    if lanes <= 1 or digit.modulus <= lanes or digit.modulus % lanes:
        return (digit,)
    inner = Digit(digit.divisor, lanes, digit.multiplier)
    return inner, Digit(WARP, digit.modulus // lanes, digit.multiplier * lanes)


def thread_count(need: int, threads: int) -> int:
    """How many of `threads` to lay along an axis that could use `need`: a divisor of `threads`.

    A power of two that suffices is preferred, since lanes then exchange by xor shuffles.
    """
    divisors = [d for d in range(1, threads + 1) if threads % d == 0]
    enough = [d for d in divisors if d >= need]
    powers = [d for d in enough if _is_power(d)]
    return min(powers, default=min(enough, default=threads))


def _is_power(value: int) -> bool:
    return value & (value - 1) == 0


def _power_floor(value: int) -> int:
    return 1 << (value.bit_length() - 1)
