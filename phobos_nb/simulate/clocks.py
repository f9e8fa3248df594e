"""Who knows of whose accesses: the happens-before order of the warps of each CTA.

An access is stamped with its warp's own time. It is ordered before a later access when the later
warp knows that time. `Epochs` serves kernels whose only synchronisation is the barrier of the whole
CTA: everybody knows everything up to the CTA's last barrier. `VectorClocks` serves all others: each
warp knows a time of its own for every other warp, and for every engine that copies for them.

Note [Access records]
A record is one int64: time (20 bits), operation (16 bits), two flags, and the thread's number in the
grid (25 bits). 0 is "never accessed"; times start at 1. `PENDING` is the time of an asynchronous
copy in flight: later than anything anybody knows. Times from `FIRST_PENDING` on are accesses of the
asynchronous proxy under way, one time each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from phobos_nb.simulate.agents import LANES, Agents
from phobos_nb.simulate.values import Bools, Ints, Value, is_array

TIME_SHIFT = 43
OP_SHIFT = 27
ATOMIC = 1 << 26
SEVERAL = 1 << 25
THREAD_MASK = (1 << 25) - 1
OP_MASK = (1 << 16) - 1
IDENTITY = OP_MASK << OP_SHIFT | THREAD_MASK
"""The bits of a record that name the operation and the agent."""
PENDING = (1 << 20) - 1
FIRST_PENDING = PENDING - (1 << 17)


GENERIC, SHARED, GLOBAL, READS, INITS = range(5)
PLANES = 5
"""See `VectorClocks`."""


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

    def row_of(self, threads: Threads) -> Ints:
        """The row of a shadow's reads that each lane's are kept in."""
        ...

    def stamp(self, threads: Threads) -> Value:
        """The time that an access of each lane gets now: an int or [lanes]."""
        ...

    def floor(self, threads: Threads) -> int:
        """A time up to which every active lane knows every access of its CTA."""
        ...

    def unordered(self, threads: Threads, records: Ints, plane: int = GENERIC) -> Bools:
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

    def row_of(self, threads: Threads) -> Ints:
        """All in one row: no warp knows less than another."""
        del threads
        return np.zeros(1, np.int64)

    def stamp(self, threads: Threads) -> Value:
        """One more than the barriers passed."""
        return self.common + 1 if self.common is not None else self.epochs[threads.cta] + 1

    def floor(self, threads: Threads) -> int:
        """The barriers that every active CTA has passed."""
        if self.common is not None:
            return self.common
        live = self.epochs[threads.active_ctas]
        return int(live.min()) if live.size else 0

    def unordered(self, threads: Threads, records: Ints, plane: int = GENERIC) -> Bools:
        """Later than the CTA's last barrier, which orders everything of this CTA."""
        del plane
        known = self.common if self.common is not None else self.epochs[threads.cta]
        return (records >> TIME_SHIFT) > known

    def barrier(self, ctas: Ints) -> None:
        """Begin a new epoch in these CTAs."""
        self.epochs[ctas] += 1
        first = int(self.epochs[0])
        self.common = first if (self.epochs == first).all() else None
        _check_time(int(self.epochs[ctas[0]]))


class VectorClocks:
    """`known[p, cta, w, a]`: the time of agent a up to which warp w knows of a, in a plane p.

    `GENERIC` is what generic accesses of the warp may rely on. `SHARED` and `GLOBAL` are what accesses
    of the asynchronous proxy to that memory may rely on when the warp starts them: generic accesses get
    there only by a proxy fence on the way (PTX ISA, "Causality order"). `READS` is what the warp knows
    to have been read; `INITS`, which memory barriers made the asynchronous proxy can use. What an engine
    did is known in all planes at once.

    Where only some lanes of a warp meet, its time goes on by one of `meetings`, and `lanes[cta, warp]`
    [lane, lane] is the time up to which one lane knows of another.
    """

    def __init__(self, ctas: int, agents: Agents) -> None:
        self.agents = agents
        self.rows = agents.columns
        self.known = np.zeros((PLANES, ctas, agents.warps, agents.columns), np.int64)
        self.ticks = np.zeros((ctas, agents.per_cta), np.int64)
        self.meetings = np.zeros((ctas, agents.warps), np.int64)
        self.lanes: dict[tuple[int, int], Ints] = {}
        self.base = np.arange(ctas) % agents.cluster * agents.per_cta

    def row_of(self, threads: Threads) -> Ints:
        """The column of each lane's warp."""
        return self.base[threads.cta] + threads.warp

    def stamp(self, threads: Threads) -> Value:
        """One more than what the lane's warp has made known to itself."""
        own = self.known[0, threads.cta, threads.warp, self.row_of(threads)]
        return own + 1 + self.meetings[threads.cta, threads.warp]

    def floor(self, threads: Threads) -> int:
        """The least that any active warp knows of any other agent."""
        live = self.known[0, threads.active_ctas]
        return int(live.min()) if live.size else 0

    def unordered(self, threads: Threads, records: Ints, plane: int = GENERIC) -> Bools:
        """Later than what the lane's warp knows of the record's agent."""
        known = self.known[plane, threads.cta, threads.warp, self.agent_of(records)]
        late = (records >> TIME_SHIFT) > known
        return late & ~self._met(threads, records) if self.lanes else late

    def _met(self, threads: Threads, records: Ints) -> Bools:
        """Whether the lane that a record names is of the same warp and has met this one since."""
        found = np.zeros(records.shape, np.bool_)
        for (cta, warp), times in self.lanes.items():
            mine = np.flatnonzero((threads.cta == cta) & (threads.warp == warp))
            some = records[..., mine]
            time = times[threads.gid[mine] % LANES, (some & THREAD_MASK) % LANES]
            same = self.agent_of(some) == self.base[cta] + warp
            found[..., mine] = same & (some >> TIME_SHIFT <= time)
        return found

    def agent_of(self, records: Ints) -> Ints:
        """The column of the agent that each record names."""
        return ((records & THREAD_MASK) // LANES) % self.rows

    def behind(self, cta: int, warp: int, records: Ints, plane: int) -> Bools:
        """Whether records of any shape are not known to a warp in a plane."""
        return records >> TIME_SHIFT > self.known[plane, cta, warp, self.agent_of(records)]

    def barrier(self, ctas: Ints) -> None:
        """Publish every warp's time to every warp of these CTAs."""
        warps = np.arange(self.agents.warps)
        for plane in (GENERIC, READS):
            own = self.base[ctas][:, None] + warps
            self.known[plane, ctas[:, None], warps, own] += 1 + self.meetings[ctas]
        self.meetings[ctas] = 0
        self.known[:, ctas] = self.known[:, ctas].max(2, keepdims=True)
        _check_time(int(self.known[0, ctas].max()))

    def publish(self, cta: int, warp: int) -> NDArray[np.int64]:
        """What a warp hands over when it arrives somewhere: all it knows, its own past included."""
        self.advance(np.array([cta]), np.array([warp]))
        return self.known[:, cta, warp].copy()

    def advance(self, ctas: Ints, warps: Ints) -> None:
        """The lanes of each of some warps meet: what they did is known to all of them."""
        own = self.base[ctas] + warps
        for plane in (GENERIC, READS):
            self.known[plane, ctas, warps, own] += 1 + self.meetings[ctas, warps]
        self.meetings[ctas, warps] = 0
        _check_time(int(self.known[0, ctas, warps, own].max()))

    def publish_among(self, cta: int, warp: int, lanes: Sequence[int]) -> None:
        """Some lanes of a warp meet: each knows what the others did and knew."""
        times = self.lanes.setdefault((cta, warp), np.zeros((LANES, LANES), np.int64))
        now = self.known[GENERIC, cta, warp, self.base[cta] + warp] + 1 + self.meetings[cta, warp]
        everything = times[lanes].max(0)
        everything[lanes] = now
        times[lanes] = np.maximum(times[lanes], everything)
        self.meetings[cta, warp] += 1

    def reads_only(self, clock: NDArray[np.int64]) -> NDArray[np.int64]:
        """What a clock says of reads and of engines: an arrival that releases no writes of warps."""
        warps = np.arange(self.rows) % self.agents.per_cta < self.agents.warps
        kept = np.where(warps, 0, clock)
        kept[READS] = clock[READS]
        return kept

    def learn(self, cta: int, warp: int, clock: NDArray[Any]) -> None:
        """A warp that waited for others knows what they handed over."""
        known = self.known[:, cta, warp]
        np.maximum(known, clock, out=known)

    def fence(self, cta: int, warp: int, planes: tuple[int, ...]) -> None:
        """A proxy fence: what the warp knows and did holds for the asynchronous proxy from here on."""
        self.publish(cta, warp)
        for plane in planes:
            self.known[plane, cta, warp] = self.known[0, cta, warp]

    def tick(self, cta: int, column: int) -> tuple[int, int]:
        """An engine of a CTA has finished something: its column in the cluster, and the time of that."""
        self.ticks[cta, column] += 1
        return int(self.base[cta]) + column, int(self.ticks[cta, column])


def records_of(threads: Threads, stamp: Value, op: int, flags: int = 0) -> Ints:
    """The access records of a strand's lanes, [lanes]."""
    time = stamp << TIME_SHIFT if is_array(stamp) else int(stamp) << TIME_SHIFT
    return threads.gid | (time | (op << OP_SHIFT | flags))


def thread_of_records(records: Ints) -> Ints:
    """The threads, by their number in the grid, that records name."""
    return records & THREAD_MASK


def _check_time(time: int) -> None:
    if time >= FIRST_PENDING - 1:
        raise OverflowError(f"more than {FIRST_PENDING} synchronisations in one CTA")
