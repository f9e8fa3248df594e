"""Race detection: for every unit of a memory, who wrote it last and who has read it since.

A unit is the smallest access that the kernel makes to that memory. Reads are logged and entered
into the shadow only when something writes, because most epochs of a kernel read much and write
little; the log is dropped at a barrier, which orders everything in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phobos_nb.simulate.clocks import (
    ATOMIC,
    FIRST_PENDING,
    GENERIC,
    OP_MASK,
    OP_SHIFT,
    PENDING,
    READS,
    SEVERAL,
    THREAD_MASK,
    TIME_SHIFT,
    Clocks,
    Threads,
    records_of,
)
from phobos_nb.simulate.records import RaceKind
from phobos_nb.simulate.values import Bools, Ints, Value

LOG_LIMIT = 256
"""Entries of the read log before it is entered: bounds the memory it holds."""


class Conflict(NamedTuple):
    """One access against an earlier one: positions in the access's [units, lanes] and the records.

    `together` says that both are lanes of one execution of one operation.
    """

    kind: RaceKind
    bad: Bools
    records: Ints
    together: bool = False

    def only(self, units: Bools) -> Conflict:
        """The part of it at some units."""
        return self._replace(bad=self.bad & units)


@dataclass
class _Read:
    threads: Threads
    units: Ints
    active: Bools | None
    records: Ints


class Shadow:
    """The access records of one memory of `units` units of `unit` bytes.

    With `across` set the memory is shared by all CTAs, between which nothing is ever ordered, except
    within a cluster: `numbers` are those that the threads of a cluster take.
    """

    def __init__(self, units: int, clocks: Clocks, numbers: int, *, across: bool, unit: int) -> None:
        self.writes = np.zeros(units, np.int64)
        self.reads = np.zeros((clocks.rows, units), np.int64)
        self.clocks = clocks
        self.entered: set[int] = set()
        self.numbers = numbers
        self.across = across
        self.unit = unit
        self.log: list[_Read] = []

    def read(
        self, threads: Threads, units: Ints, active: Bools | None, op: int
    ) -> tuple[Conflict | None, Bools | None]:
        """Enter a read of `units` [k, lanes]; the conflict, and which units were never written."""
        records = self.writes.take(units)
        unwritten = None if self.across else _where_zero(records, active)
        bad = self._conflicts(threads, records, active)
        stamp = self.clocks.stamp(threads)
        self.log.append(_Read(threads, units, active, records_of(threads, stamp, op)))
        if len(self.log) >= LOG_LIMIT:
            self.enter_reads()
        return (None if bad is None else Conflict("read after write", bad, records)), unwritten

    def write(
        self,
        threads: Threads,
        units: Ints,
        active: Bools | None,
        op: int,
        *,
        atomic: bool = False,
        pending: bool = False,
    ) -> tuple[list[Conflict], Bools | None]:
        """Enter a write of `units` [k, lanes]; its conflicts, and which units were never written before.

        A pending write is that of an asynchronous copy: until `complete` every access to it conflicts.
        """
        self.enter_reads()
        found: list[Conflict] = []
        before = self.writes.take(units)
        late = bad = self._conflicts(threads, before, active)
        if bad is not None and atomic:
            bad = bad & ((before & ATOMIC) == 0)
        if bad is not None and bad.any():
            found.append(Conflict("write after write", bad, before))
        for index in self.entered:
            seen = self.reads[index].take(units)
            bad = self._conflicts(threads, seen, active, plane=READS)
            if bad is not None:
                found.append(Conflict("write after read", bad, seen))
        stamp = PENDING if pending else self.clocks.stamp(threads)
        new = records_of(threads, stamp, op, ATOMIC if atomic else 0)
        if atomic:
            marked = new if late is None else np.where(late, new | SEVERAL, new)
            self._enter_atomic(units, marked, active)
        else:
            _scatter(self.writes, units, new, active)
            self._same_operation(units, new, active, found)
        return found, None if self.across else _where_zero(before, active)

    def complete(self, threads: Threads, units: Ints, lanes: Ints | None, op: int) -> None:
        """An asynchronous copy has landed: from here on it is a write of the thread that waited.

        `units` are [k, lanes of the copy], which are the given ones of the strand's.
        """
        records = np.broadcast_to(records_of(threads, self.clocks.stamp(threads), op), threads.gid.shape)
        self.writes[units] = records if lanes is None else records[lanes]

    def ordered_everywhere(self) -> None:
        """A barrier of every CTA has made all logged reads old."""
        if not self.across:
            self.log.clear()

    def enter_reads(self) -> None:
        """Move the log into the shadow."""
        log, self.log = self.log, []
        for entry in log:
            self._enter(entry)

    def _enter(self, entry: _Read) -> None:
        if len(self.reads) == 1:
            self.entered.add(0)
            self._enter_row(self.reads[0], entry, entry.active)
            return
        rows = self.clocks.row_of(entry.threads)
        for row in np.unique(rows).tolist():
            self.entered.add(row)
            active = np.broadcast_to(rows == row, entry.units.shape)
            active = active if entry.active is None else active & entry.active
            free = self.reads[row].take(entry.units) >> TIME_SHIFT < FIRST_PENDING
            self._enter_row(self.reads[row], entry, active if free.all() else active & free)

    def _enter_row(self, row: Ints, entry: _Read, active: Bools | None) -> None:
        before = row.take(entry.units)
        new = np.broadcast_to(entry.records, entry.units.shape)
        clash = self._unordered(entry.threads, before) & (((before ^ new) & THREAD_MASK) != 0)
        new = np.where(clash, new | SEVERAL, new)
        _scatter(row, entry.units, new, active)
        lost = row.take(entry.units) != new
        if active is not None:
            lost &= active
        if lost.any():
            row[entry.units[lost]] |= SEVERAL

    def _unordered(self, threads: Threads, records: Ints, plane: int = GENERIC) -> Bools:
        """Whether records are unknown to the lanes; in global memory also those of other CTAs."""
        late = self.clocks.unordered(threads, records, plane)
        if self.across:
            other = (records & THREAD_MASK) // self.numbers
            late |= (other != threads.gid // self.numbers) & (records != 0)
        return late

    def _conflicts(
        self,
        threads: Threads,
        records: Ints,
        active: Bools | None,
        *,
        plane: int = GENERIC,
    ) -> Bools | None:
        newest = int(records.max(initial=0))
        if newest == 0 or (not self.across and newest >> TIME_SHIFT <= self.clocks.floor(threads)):
            return None
        others = ((records & THREAD_MASK) != threads.gid) | ((records & SEVERAL) != 0)
        bad = self._unordered(threads, records, plane) & (
            others | (records >> TIME_SHIFT >= FIRST_PENDING)
        )
        if active is not None:
            bad &= active
        return bad if bad.any() else None

    def _enter_atomic(self, units: Ints, new: Ints, active: Bools | None) -> None:
        """Write the records of an atomic; where several lanes update one unit, they say so."""
        new = np.broadcast_to(new, units.shape)
        _scatter(self.writes, units, new, active)
        lost = self.writes.take(units) != new
        if active is not None:
            lost &= active
        if lost.any():
            self.writes[units[lost]] |= SEVERAL

    def _same_operation(
        self, units: Ints, new: Ints, active: Bools | None, found: list[Conflict]
    ) -> None:
        """Two lanes of one operation that wrote the same unit."""
        kept = self.writes.take(units)
        bad = kept != new
        if active is not None:
            bad &= active
        if bad.any():
            found.append(Conflict("write after write", bad, kept, together=True))


def operation_of(record: int) -> int:
    """The operation that a record names."""
    return record >> OP_SHIFT & OP_MASK


def thread_of(record: int) -> int:
    """The thread's number in the grid that a record names; one of them if there were several."""
    return record & THREAD_MASK


def in_flight(record: int) -> bool:
    """Whether a record is an asynchronous access that nobody has waited for."""
    return record >> TIME_SHIFT >= FIRST_PENDING


def under_way(records: Ints) -> Bools:
    """`in_flight` of many records."""
    return records >> TIME_SHIFT >= FIRST_PENDING


def _where_zero(records: Ints, active: Bools | None) -> Bools | None:
    if int(records.min(initial=1)) > 0:
        return None
    never = records == 0
    if active is not None:
        never &= active
    return never if never.any() else None


def _scatter(target: Ints, units: Ints, values: Value, active: Bools | None) -> None:
    values = np.broadcast_to(values, units.shape)
    if active is None:
        target[units] = values
    else:
        live = np.broadcast_to(active, units.shape)
        target[units[live]] = values[live]
