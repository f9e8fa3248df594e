"""Memory barriers in shared memory: phases that complete when enough threads (and bytes) arrived.

Arriving hands over what a warp knows; waiting for the phase takes it. Phases are counted, although the
hardware only tells their parity, so that a report can say by how many a waiter is off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phobos_nb.simulate.clocks import VectorClocks, records_of, thread_of_records
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.program_points import BLOCKED
from phobos_nb.simulate.shadow import operation_of
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Ints, Value


class MBarriers:
    """A group of barriers of every CTA of a chunk; arrays are [ctas, barriers] or [.., warps].

    count: arrivals that complete a phase, 0 before `init`; made: the access record of that.
    pending, bytes: what the phase in progress still waits for. phase: phases completed.
    gathered: what arrivals have handed over so far; handed: the same at the end of the last completed
    phase. passed: the phase that each warp has waited for last.
    """

    def __init__(self, number: int, ctas: int, clock: tuple[int, int]) -> None:
        shape = (ctas, number)
        self.count = np.zeros(shape, np.int64)
        self.made = np.zeros(shape, np.int64)
        self.pending = np.zeros(shape, np.int64)
        self.bytes = np.zeros(shape, np.int64)
        self.phase = np.zeros(shape, np.int64)
        self.gathered = np.zeros((*shape, *clock), np.int64)
        self.handed = np.zeros((*shape, *clock), np.int64)
        self.passed = np.zeros((*shape, clock[1]), np.int64)

    def complete(self) -> None:
        """End the phases for which nothing is pending any more."""
        done = (self.pending <= 0) & (self.bytes == 0) & (self.count > 0)
        self.phase[done] += 1
        self.pending[done] = self.count[done]
        self.handed[done] = self.gathered[done]


@dataclass(frozen=True)
class AtMBarrier:
    """What a strand waits for: a phase of one barrier of a group."""

    op: int
    group: MBarriers
    index: Value
    parity: Value

    def ready(self, m: Machine, s: Strand) -> bool:
        """Whether the phase is complete in every CTA of the strand."""
        del m
        return phase_is_complete(s, self.group, self.index, self.parity)

    def describe(self, m: Machine, s: Strand) -> str:
        """What a deadlock report says of it."""
        cta, index, warp = (int(a[0]) for a in _where(s, self.index))
        group = self.group
        parity = int(np.broadcast_to(self.parity, (s.count,))[s.active[0]])
        return (
            f"barrier {index} parity {parity} ({m.recorder.places[self.op]}): it has completed "
            f"{group.phase[cta, index]} phases, this warp has passed {group.passed[cta, index, warp]}, "
            f"{group.pending[cta, index]} of {group.count[cta, index]} arrivals and "
            f"{group.bytes[cta, index]} bytes are missing"
        )


def _where(s: Strand, index: Value) -> tuple[Ints, Ints, Ints]:
    """CTA, barrier and warp of every active lane."""
    lanes = s.active
    numbers = np.broadcast_to(np.asarray(index, np.int64), (s.count,))
    return s.cta[lanes], numbers[lanes], s.warp[lanes]


def initialise(m: Machine, s: Strand, group: MBarriers, index: Value, count: Value, op: int) -> None:
    """Set the arrivals of a barrier; its phases begin anew."""
    cta, number, _ = _where(s, index)
    arrivals = np.broadcast_to(np.asarray(count, np.int64), (s.count,))[s.active]
    group.count[cta, number] = arrivals
    group.made[cta, number] = records_of(s, m.clocks.stamp(s), op)[s.active]
    group.pending[cta, number] = arrivals
    group.phase[cta, number] = 0
    group.passed[cta, number] = 0


def arrive(m: Machine, s: Strand, group: MBarriers, index: Value, op: int, bytes_: Value = 0) -> None:
    """Every active lane arrives once, after adding `bytes_` to what the phase waits for."""
    clocks = m.clocks
    assert isinstance(clocks, VectorClocks)
    cta, number, warp = _where(s, index)
    if not len(cta) or not _initialised(m, s, group, cta, number, op):
        return
    np.add.at(group.bytes, (cta, number), np.broadcast_to(np.asarray(bytes_), (s.count,))[s.active])
    pairs = np.unique(np.stack([cta, warp, number], 1), axis=0)
    for one, of_warp, barrier in pairs.tolist():
        clock = clocks.publish(one, of_warp)
        np.maximum(group.gathered[one, barrier], clock, out=group.gathered[one, barrier])
    np.subtract.at(group.pending, (cta, number), 1)
    _check_overrun(m, s, group, cta, number, op)
    group.complete()


def phase_is_complete(s: Strand, group: MBarriers, index: Value, parity: Value) -> bool:
    """Whether the phase of that parity is the last completed one, for all active lanes."""
    cta, number, _ = _where(s, index)
    wanted = np.broadcast_to(np.asarray(parity, np.int64), (s.count,))[s.active]
    return bool(((group.phase[cta, number] & 1) != wanted).all())


def wait(
    m: Machine, s: Strand, group: MBarriers, index: Value, parity: Value, op: int, here: int
) -> int | None:
    """Go on when the phase is complete, knowing what was handed over; else block at this step."""
    clocks = m.clocks
    assert isinstance(clocks, VectorClocks)
    cta, number, warp = _where(s, index)
    if not _initialised(m, s, group, cta, number, op):
        return None
    if not phase_is_complete(s, group, index, parity):
        s.pc = here
        s.waiting = AtMBarrier(op, group, index, parity)
        return BLOCKED
    pairs = np.unique(np.stack([cta, warp, number], 1), axis=0)
    for one, of_warp, barrier in pairs.tolist():
        clocks.learn(one, of_warp, group.handed[one, barrier])
        group.passed[one, barrier, of_warp] = group.phase[one, barrier]
    return None


def _initialised(m: Machine, s: Strand, group: MBarriers, cta: Ints, number: Ints, op: int) -> bool:
    """Report a barrier that is used before its `init`, or whose `init` the warp cannot know of."""
    unset = group.count[cta, number] == 0
    if not unset.any():
        _check_known(m, s, group, cta, number, op)
        return True
    lane = int(s.active[int(unset.argmax())])
    text = f"uses memory barrier {int(number[int(unset.argmax())])} before it is initialised"
    m.recorder.fault(
        "mbarrier", op, text, m.cta_of(s, lane), int(s.thread[lane]), count=int(unset.sum())
    )
    return False


def _check_known(m: Machine, s: Strand, group: MBarriers, cta: Ints, number: Ints, op: int) -> None:
    """Report a barrier whose `init` nothing has made visible to the warp."""
    if not m.watch.races:
        return
    records = np.zeros(s.count, np.int64)
    records[s.active] = group.made[cta, number]
    late = m.clocks.unordered(s, records) & (thread_of_records(records) != s.gid) & (records != 0)
    if late.any():
        lane = int(late.argmax())
        record = int(records[lane])
        maker, thread = m.owner(record)
        ctas, threads = (maker, m.cta_of(s, lane)), (thread, int(s.thread[lane]))
        barrier = int(number[int(np.searchsorted(s.active, lane))])
        ops = (operation_of(record), op)
        m.recorder.race("read after write", ops, ctas, threads, "mbarrier", (barrier,), int(late.sum()))


def _check_overrun(m: Machine, s: Strand, group: MBarriers, cta: Ints, number: Ints, op: int) -> None:
    """Report more arrivals in a phase than its count."""
    over = group.pending[cta, number] < 0
    if over.any():
        lane = int(s.active[int(over.argmax())])
        text = f"arrives at memory barrier {int(number[int(over.argmax())])} more often than its count"
        m.recorder.fault("mbarrier", op, text, m.cta_of(s, lane), int(s.thread[lane]))
