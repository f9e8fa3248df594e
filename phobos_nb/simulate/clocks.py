"""Who knows of whose accesses: the happens-before order of the warps of each CTA.

An access is stamped with its warp's own time. It is ordered before a later access when the later
warp knows that time. `Epochs` serves kernels whose only synchronisation is the barrier of the whole
CTA: everybody knows everything up to the CTA's last barrier. `VectorClocks` serves all others: each
warp knows a time of its own for every other warp.

Note [Access records]
A record is one int64: time (20 bits), operation (16 bits), two flags, and the thread's number in the
grid (25 bits). 0 is "never accessed"; times start at 1. `PENDING` is the time of an asynchronous
copy in flight: later than anything anybody knows.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from phobos_nb.simulate.values import Bools, Ints, Value, is_array

TIME_SHIFT = 43
OP_SHIFT = 27
ATOMIC = 1 << 26
SEVERAL = 1 << 25
THREAD_MASK = (1 << 25) - 1
OP_MASK = (1 << 16) - 1
PENDING = (1 << 20) - 1


class Threads(Protocol):
    """What the clocks need to know of a strand's lanes: arrays over its lanes."""

    gid: Ints
    cta: Ints
    warp: Ints

    @property
    def active_ctas(self) -> Ints:
        """The CTAs that have an active lane."""
        ...


class Clocks(Protocol):
    """The order of accesses within the CTAs of a chunk."""

    rows: int

    def stamp(self, threads: Threads) -> Value:
        """The time that an access of each lane gets now: an int or [lanes]."""
        ...

    def floor(self, threads: Threads) -> int:
        """A time up to which every active lane knows every access of its CTA."""
        ...

    def unordered(self, threads: Threads, records: Ints) -> Bools:
        """Whether each record (last axis: lanes) is not known to its lane's warp."""
        ...

    def barrier(self, ctas: Ints) -> None:
        """All warps of these CTAs meet: each knows what any of them did."""
        ...


class Epochs:
    """One time per CTA: the number of barriers it has passed."""

    rows = 1

    def __init__(self, ctas: int) -> None:
        self.epochs = np.zeros(ctas, np.int64)
        self.common: int | None = 0

    def stamp(self, threads: Threads) -> Value:
        """One more than the barriers passed."""
        return self.common + 1 if self.common is not None else self.epochs[threads.cta] + 1

    def floor(self, threads: Threads) -> int:
        """The barriers that every active CTA has passed."""
        if self.common is not None:
            return self.common
        live = self.epochs[threads.active_ctas]
        return int(live.min()) if live.size else 0

    def unordered(self, threads: Threads, records: Ints) -> Bools:
        """Later than the CTA's last barrier."""
        known = self.common if self.common is not None else self.epochs[threads.cta]
        return (records >> TIME_SHIFT) > known

    def barrier(self, ctas: Ints) -> None:
        """Begin a new epoch in these CTAs."""
        self.epochs[ctas] += 1
        first = int(self.epochs[0])
        self.common = first if (self.epochs == first).all() else None
        _check_time(int(self.epochs[ctas[0]]))


class VectorClocks:
    """`known[cta, w, v]`: the time of warp v up to which warp w knows of v's accesses."""

    def __init__(self, ctas: int, warps: int) -> None:
        self.rows = warps
        self.known = np.zeros((ctas, warps, warps), np.int64)

    def stamp(self, threads: Threads) -> Value:
        """One more than what the lane's warp has made known to itself."""
        return self.known[threads.cta, threads.warp, threads.warp] + 1

    def floor(self, threads: Threads) -> int:
        """The least that any active warp knows of any other."""
        live = self.known[threads.active_ctas]
        return int(live.min()) if live.size else 0

    def unordered(self, threads: Threads, records: Ints) -> Bools:
        """Later than what the lane's warp knows of the record's warp."""
        other = ((records & THREAD_MASK) // 32) % self.rows
        return (records >> TIME_SHIFT) > self.known[threads.cta, threads.warp, other]

    def barrier(self, ctas: Ints) -> None:
        """Publish every warp's time to every warp of these CTAs."""
        diagonal = np.arange(self.rows)
        self.known[ctas[:, None], diagonal, diagonal] += 1
        self.known[ctas] = self.known[ctas].max(1, keepdims=True)
        _check_time(int(self.known[ctas].max()))

    def publish(self, cta: int, warp: int) -> NDArray[np.int64]:
        """What a warp hands over when it arrives somewhere: all it knows, its own past included."""
        self.known[cta, warp, warp] += 1
        _check_time(int(self.known[cta, warp, warp]))
        return self.known[cta, warp].copy()

    def learn(self, cta: int, warp: int, clock: NDArray[Any]) -> None:
        """A warp that waited for others knows what they handed over."""
        np.maximum(self.known[cta, warp], clock, out=self.known[cta, warp])


def records_of(threads: Threads, stamp: Value, op: int, flags: int = 0) -> Ints:
    """The access records of a strand's lanes, [lanes]."""
    time = stamp << TIME_SHIFT if is_array(stamp) else int(stamp) << TIME_SHIFT
    return threads.gid | (time | (op << OP_SHIFT | flags))


def thread_of_records(records: Ints) -> Ints:
    """The threads, by their number in the grid, that records name."""
    return records & THREAD_MASK


def _check_time(time: int) -> None:
    if time >= PENDING - 1:
        raise OverflowError("more than a million synchronisations in one CTA")
