"""Accesses of the asynchronous proxy: what bulk copies and asynchronous products read and write.

Such an access begins when a thread starts it and is over when somebody has waited for it; in between
everything that meets it races. It may rely on generic accesses only if a proxy fence stands between
them; what it did itself needs no fence (PTX ISA, "Async proxy").

Use: `begin` at the operation, `finish` when its completion is seen, and every warp that waited for that
learns the clock that `finish` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.simulate.clocks import (
    FIRST_PENDING,
    GENERIC,
    GLOBAL,
    IDENTITY,
    OP_MASK,
    OP_SHIFT,
    PENDING,
    READS,
    SEVERAL,
    SHARED,
    THREAD_MASK,
    TIME_SHIFT,
    VectorClocks,
)
from phobos_nb.simulate.findings import kind_of
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.memory import Memory
from phobos_nb.simulate.records import RaceKind
from phobos_nb.simulate.shadow import Shadow
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools, DTypeLike, Ints, Value


@dataclass(frozen=True)
class Issuer:
    """Who starts an access: the operation, the CTA in the chunk, the warp, the thread's grid number."""

    op: int
    cta: int
    warp: int
    number: int


def issuer(s: Strand, lane: int, op: int) -> Issuer:
    """One lane of a strand as an issuer."""
    return Issuer(op, int(s.cta[lane]), int(s.warp[lane]), int(s.gid[lane]))


@dataclass(frozen=True)
class UnderWay:
    """An access that has begun: `record` stands at its `units`, in a row of the reads or the writes."""

    shadow: Shadow
    units: Ints
    record: int
    row: int | None


class Numbering:
    """Gives every access under way a time of its own, see `clocks.FIRST_PENDING`."""

    def __init__(self) -> None:
        self.last = FIRST_PENDING

    def next(self) -> int:
        """The next time; after a hundred thousand they begin anew."""
        self.last = self.last + 1 if self.last + 1 < PENDING else FIRST_PENDING
        return self.last


def begin(
    m: Machine,
    who: Issuer,
    memory: Memory,
    dtype: DTypeLike,
    positions: Ints,
    *,
    writes: bool,
    units: Callable[[int], Ints] | None = None,
) -> UnderWay | None:
    """Start reading or writing elements, by their positions in the memory's typed view.

    `units` gives their shadow units, by the bytes of one, where the caller has them at hand. Races with
    earlier accesses are reported here, later ones where they happen. `None` if nobody looks for races.
    """
    shadow = m.shadow_of(memory)
    if shadow is None:
        return None
    shadow.enter_reads()
    found = units_at(positions, dtype.itemsize, shadow.unit) if units is None else units(shadow.unit)
    return _begin(_Look(m, who, shadow, memory, dtype, found), writes=writes)


def _begin(look: _Look, *, writes: bool) -> UnderWay:
    """Hold an access against what is known of its units, and enter it."""
    m, who, shadow, units = look.m, look.who, look.shadow, look.units
    look.at("write after write" if writes else "read after write", shadow.writes.take(units), True)
    record = m.part(Numbering).next() << TIME_SHIFT | who.op << OP_SHIFT | who.number
    if writes:
        for row in shadow.entered:
            look.at("write after read", shadow.reads[row].take(units), False)
        shadow.writes[units] = record
        return UnderWay(shadow, units, record, None)
    if not shadow.across:
        look.unwritten(shadow.writes.take(units) == 0)
    clocks = clocks_of(m)
    row = int(clocks.base[who.cta]) + who.warp
    shadow.entered.add(row)
    shadow.reads[row][units] = record
    return UnderWay(shadow, units, record, row)


def finish(m: Machine, cta: int, column: int, accesses: Iterable[UnderWay | None]) -> NDArray[Any]:
    """Accesses of one engine of a CTA are over; the clock that those learn who waited for them."""
    clocks = clocks_of(m)
    agent, time = clocks.tick(cta, column)
    number = clocks.agents.number(int(m.places[cta]), column)
    for access in accesses:
        if access is not None:
            _restamp(m, access, time, number)
    clock = np.zeros((clocks.known.shape[0], clocks.rows), np.int64)
    clock[:, agent] = time
    return clock


def units_at(positions: Ints, itemsize: int, unit: int) -> Ints:
    """The shadow units of distinct elements, each once."""
    flat = positions.reshape(-1)
    if itemsize == unit:
        return flat
    if itemsize < unit:
        return np.unique(flat * itemsize // unit)
    each = itemsize // unit
    return (flat[:, None] * each + np.arange(each)).reshape(-1)


def fence(m: Machine, s: Strand, planes: tuple[int, ...]) -> None:
    """A proxy fence of the active warps, for some planes of the clocks."""
    clocks = clocks_of(m)
    lanes = s.leaders
    for cta, warp in zip(s.cta[lanes].tolist(), s.warp[lanes].tolist(), strict=True):
        clocks.fence(cta, warp, planes)


def clocks_of(m: Machine) -> VectorClocks:
    """The clocks of a program that needs more than barriers of the CTA."""
    clocks: Value = m.clocks
    if not isinstance(clocks, VectorClocks):
        raise TypeError("a row that uses the asynchronous proxy did not ask for vector clocks")
    return clocks


def _restamp(m: Machine, access: UnderWay, time: int, number: int) -> None:
    """From here on it is an access of the engine at a time; where a later one stands, that stays."""
    target = access.shadow.writes if access.row is None else access.shadow.reads[access.row]
    op = access.record & OP_MASK << OP_SHIFT
    record = time << TIME_SHIFT | op | number
    m.issuers[record & IDENTITY] = access.record & THREAD_MASK
    mine = access.units[target.take(access.units) == access.record]
    target[mine] = record


@dataclass(frozen=True)
class _Look:
    """One access held against the records of earlier ones."""

    m: Machine
    who: Issuer
    shadow: Shadow
    memory: Memory
    dtype: DTypeLike
    units: Ints

    def at(self, kind: RaceKind, records: Ints, proxies: bool) -> None:
        """Report what the issuer does not know, and with `proxies` what no fence has passed on."""
        if not records.any():
            return
        clocks, cta, warp = clocks_of(self.m), self.who.cta, self.who.warp
        behind = clocks.behind(cta, warp, records, GENERIC if proxies else READS)
        unfenced = clocks.behind(cta, warp, records, GLOBAL if self.shadow.across else SHARED)
        live = records != 0
        if self.shadow.across:
            theirs = (records & THREAD_MASK) // self.shadow.numbers
            behind |= theirs != self.who.number // self.shadow.numbers
        flying = records >> TIME_SHIFT >= FIRST_PENDING
        mine = ((records & THREAD_MASK) == self.who.number) & ((records & SEVERAL) == 0)
        bad = live & behind & (~mine | flying)
        self._report(kind, records, bad)
        if proxies:
            self._report("missing proxy fence", records, live & unfenced & ~bad)

    def unwritten(self, bad: Bools) -> None:
        """Report a read of shared memory that nothing has written."""
        if bad.any():
            element = self._element(int(self.units[bad.argmax()]))
            text = f"reads {self.memory.name} at byte {element[0]}, which nothing has written"
            cta, thread = self.m.shape.owner(self.who.number)
            self.m.recorder.fault(
                "uninitialised",
                self.who.op,
                text,
                cta,
                thread,
                tensor=self.memory.name,
                element=element,
                count=int(bad.sum()),
            )

    def _report(self, kind: RaceKind, records: Ints, bad: Bools) -> None:
        if not bad.any():
            return
        ops = np.where(bad, records >> OP_SHIFT & OP_MASK, -1)
        for other in np.unique(ops[bad]).tolist():
            first = int((ops == other).argmax())
            record = int(records[first])
            ends = self.m.owner(record), self.m.shape.owner(self.who.number)
            self.m.recorder.race(
                kind if kind == "missing proxy fence" else kind_of(kind, record),
                (other, self.who.op),
                (ends[0][0], ends[1][0]),
                (ends[0][1], ends[1][1]),
                self.memory.name,
                self._element(int(self.units[first])),
                int((ops == other).sum()),
            )

    def _element(self, unit: int) -> tuple[int, ...]:
        offset = unit * self.shadow.unit
        if self.memory.space == "shared":
            return (offset % self.memory.allocation.stride,)
        start = int(self.memory.origin(self.dtype, np.zeros(1, np.int64))) * self.dtype.itemsize
        return self.memory.index_of((offset - start) // self.dtype.itemsize, self.dtype.itemsize)
