"""Memory barriers in shared memory: phases that complete when enough threads (and bytes) arrived.

Arriving hands over what a warp knows; waiting for the phase takes it. Phases are counted, although the
hardware only tells their parity, so that a report can say by how many a waiter is off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phobos_nb.simulate.clocks import INITS, PLANES, records_of, thread_of_records
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.program_points import BLOCKED
from phobos_nb.simulate.proxies import Issuer, UnderWay, clocks_of, finish
from phobos_nb.simulate.shadow import operation_of
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools, Ints, Value

MOST_BYTES = (1 << 20) - 1
"""The largest number of bytes that a phase can wait for: PTX ISA, "tx-count"."""


class MBarriers:
    """A group of barriers of every CTA of a chunk: [ctas, barriers], clocks [.., planes, agents].

    first: the number of the group's first barrier among all of a CTA. count: arrivals that complete a
    phase, 0 before `init`; made: the access record of that. pending, bytes: what the phase in progress
    still waits for. phase: phases completed. gathered: what arrivals have handed over so far; handed:
    the same at the end of the last completed phase. passed: the phase that each warp of the cluster has
    waited for last. landed: bulk copies whose bytes have come since a phase began.
    """

    def __init__(self, number: int, first: int, ctas: int, agents: int) -> None:
        shape = (ctas, number)
        self.number = number
        self.first = first
        self.count = np.zeros(shape, np.int64)
        self.made = np.zeros(shape, np.int64)
        self.pending = np.zeros(shape, np.int64)
        self.bytes = np.zeros(shape, np.int64)
        self.phase = np.zeros(shape, np.int64)
        self.gathered = np.zeros((*shape, PLANES, agents), np.int64)
        self.handed = np.zeros((*shape, PLANES, agents), np.int64)
        self.passed = np.zeros((*shape, agents), np.int64)
        self.landed: dict[tuple[int, int], list[UnderWay | None]] = {}

    def complete(self, m: Machine) -> None:
        """End the phases for which nothing is pending any more."""
        done = (self.pending <= 0) & (self.bytes == 0) & (self.count > 0)
        if not done.any():
            return
        for cta, index in np.argwhere(done).tolist():
            landed = self.landed.pop((cta, index), None)
            if landed:
                column = clocks_of(m).agents.mbarrier(self.first + index)
                gathered = self.gathered[cta, index]
                np.maximum(gathered, finish(m, cta, column, landed), out=gathered)
        self.phase[done] += 1
        self.pending[done] = self.count[done]
        self.handed[done] = self.gathered[done]

    def land(
        self, m: Machine, who: Issuer, cta: int, index: int, bytes_: int, access: list[UnderWay | None]
    ) -> None:
        """A bulk copy that a thread started has moved its bytes."""
        self.bytes[cta, index] -= bytes_
        if self.bytes[cta, index] < -MOST_BYTES:
            text = f"brings memory barrier {index} more than {MOST_BYTES} bytes that nothing expects"
            m.recorder.fault("mbarrier", who.op, text, *m.shape.owner(who.number))
        self.landed.setdefault((cta, index), []).extend(access)
        self.complete(m)


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
        clocks = clocks_of(m)
        cta, index, warp = (int(a[0]) for a in _where(s, self.index))
        group = self.group
        parity = int(np.broadcast_to(self.parity, (s.count,))[s.active[0]])
        passed = int(group.passed[cta, index, int(clocks.base[cta]) + warp])
        bytes_ = int(group.bytes[cta, index])
        more = "are missing" if bytes_ >= 0 else "have come that nothing expected"
        return (
            f"barrier {index} parity {parity} ({m.recorder.places[self.op]}): it has completed "
            f"{group.phase[cta, index]} phases, this warp has passed {passed}, "
            f"{group.pending[cta, index]} of {group.count[cta, index]} arrivals and "
            f"{abs(bytes_)} bytes {more}"
        )


@dataclass(frozen=True)
class Polled:
    """A strand that found a phase incomplete goes on when nobody else can."""

    op: int

    def ready(self, m: Machine, s: Strand) -> bool:
        """Never by itself."""
        del m, s
        return False

    def describe(self, m: Machine, s: Strand) -> str:
        """What a deadlock report says of it."""
        del s
        return f"a memory barrier that it asks again and again ({m.recorder.places[self.op]})"


def _where(s: Strand, index: Value) -> tuple[Ints, Ints, Ints]:
    """CTA, barrier and warp of every active lane."""
    lanes = s.active
    numbers = np.broadcast_to(np.asarray(index, np.int64), (s.count,))
    return s.cta[lanes], numbers[lanes], s.warp[lanes]


def _pairs(s: Strand, *columns: Ints) -> list[list[int]]:
    """The distinct rows of columns that hold a value per active lane.

    Where no warp's lanes differ, the first lane of each stands for all.
    """
    rows = np.stack(columns, 1)
    firsts = np.searchsorted(s.active, s.leaders)
    if len(rows) and (rows == np.repeat(rows[firsts], np.diff([*firsts, len(rows)]), 0)).all():
        return rows[firsts].tolist()
    return np.unique(rows, axis=0).tolist()


def initialise(m: Machine, s: Strand, group: MBarriers, index: Value, count: Value, op: int) -> None:
    """Set the arrivals of a barrier; its phases begin anew."""
    cta, number, _ = _where(s, index)
    if not _exists(m, s, group, number, op):
        return
    arrivals = np.broadcast_to(np.asarray(count, np.int64), (s.count,))[s.active]
    group.count[cta, number] = arrivals
    group.made[cta, number] = records_of(s, m.clocks.stamp(s), op)[s.active]
    group.pending[cta, number] = arrivals
    group.bytes[cta, number] = 0
    group.phase[cta, number] = 0
    group.passed[cta, number] = 0


def arrive(
    m: Machine,
    s: Strand,
    group: MBarriers,
    index: Value,
    op: int,
    bytes_: Value = 0,
    *,
    times: Value = 1,
    peer: Value = None,
) -> None:
    """Every active lane arrives, after adding `bytes_` to what the phase waits for.

    `peer` is the rank in the cluster of the CTA whose barrier it is; such an arrival hands over what the
    warp has read, not what it wrote (`phobos.mbarrier.arrive.peer`).
    """
    clocks = clocks_of(m)
    cta, number, warp = _where(s, index)
    home = cta
    if peer is not None:
        ranks = np.broadcast_to(np.asarray(peer, np.int64), (s.count,))[s.active]
        cta = cta // clocks.agents.cluster * clocks.agents.cluster + ranks
    if not len(cta) or not _initialised(m, s, group, cta, number, op):
        return
    np.add.at(group.bytes, (cta, number), np.broadcast_to(np.asarray(bytes_), (s.count,))[s.active])
    _check_bytes(m, s, group, cta, number, op)
    for own, of_warp, one, barrier in _pairs(s, home, warp, cta, number):
        clock = clocks.publish(own, of_warp)
        if peer is not None:
            clock = clocks.reads_only(clock)
        np.maximum(group.gathered[one, barrier], clock, out=group.gathered[one, barrier])
    each = np.broadcast_to(np.asarray(times, np.int64), (s.count,))[s.active]
    np.subtract.at(group.pending, (cta, number), each)
    _check_overrun(m, s, group, cta, number, op)
    group.complete(m)


def token_of(s: Strand, group: MBarriers, index: Value) -> Value:
    """For every lane the phase of its barrier that is in progress."""
    cta, number, _ = _where(s, index)
    phases = np.zeros(s.count, np.int64)
    phases[s.active] = group.phase[cta, number.clip(0, group.number - 1)]
    return phases


def check_not_complete(
    m: Machine, s: Strand, group: MBarriers, index: Value, token: Value, op: int
) -> None:
    """Report arrivals that were promised not to complete a phase, and did."""
    done = (token_of(s, group, index) != token)[s.active]
    if done.any():
        lane = int(s.active[int(done.argmax())])
        text = "completes the phase of a memory barrier, which this arrival must not"
        m.recorder.fault("mbarrier", op, text, m.cta_of(s, lane), int(s.thread[lane]))


def phase_is_complete(s: Strand, group: MBarriers, index: Value, parity: Value) -> bool:
    """Whether the phase of that parity is the last completed one, for all active lanes."""
    cta, number, _ = _where(s, index)
    wanted = np.broadcast_to(np.asarray(parity, np.int64), (s.count,))[s.active]
    return bool(((group.phase[cta, number] & 1) != wanted).all())


def test(m: Machine, s: Strand, group: MBarriers, index: Value, token: Value, op: int) -> Value:
    """Whether the phase of each lane's token is complete; warps whose is take what was handed over."""
    cta, number, warp = _where(s, index)
    complete = np.zeros(s.count, np.bool_)
    if not _initialised(m, s, group, cta, number, op):
        return complete
    tokens = np.broadcast_to(np.asarray(token, np.int64), (s.count,))[s.active]
    done = group.phase[cta, number] > tokens
    complete[s.active] = done
    if done.any():
        outer = s.mask
        s.set_mask(complete if outer is None else complete & outer)
        _take(m, s, group, cta[done], number[done], warp[done])
        s.set_mask(outer)
    return complete


def wait(
    m: Machine, s: Strand, group: MBarriers, index: Value, parity: Value, op: int, here: int
) -> int | None:
    """Go on when the phase is complete, knowing what was handed over; else block at this step."""
    cta, number, warp = _where(s, index)
    if not _initialised(m, s, group, cta, number, op):
        return None
    if not phase_is_complete(s, group, index, parity):
        s.pc = here
        s.waiting = AtMBarrier(op, group, index, parity)
        return BLOCKED
    _check_missed(m, s, group, cta, number, warp, op)
    _take(m, s, group, cta, number, warp)
    return None


def _take(m: Machine, s: Strand, group: MBarriers, cta: Ints, number: Ints, warp: Ints) -> None:
    clocks = clocks_of(m)
    for one, of_warp, barrier in _pairs(s, cta, warp, number):
        clocks.learn(one, of_warp, group.handed[one, barrier])
        group.passed[one, barrier, int(clocks.base[one]) + of_warp] = group.phase[one, barrier]


def usable(m: Machine, who: Issuer, group: MBarriers, cta: int, index: int) -> bool:
    """Whether a bulk copy of a thread may count its bytes at a barrier; if not, it is reported.

    The barrier's `init` must have been handed to the asynchronous proxy by a fence.
    """
    place = m.shape.owner(who.number)
    if not 0 <= index < group.number or not group.count[cta, index]:
        text = f"counts its bytes at memory barrier {index}, which is not initialised"
        m.recorder.fault("mbarrier", who.op, text, *place)
        return False
    record = int(group.made[cta, index])
    if m.watch.races:
        late = clocks_of(m).behind(who.cta, who.warp, np.array([record]), INITS)
        if late.any():
            maker, thread = m.owner(record)
            ops, ctas = (operation_of(record), who.op), (maker, place[0])
            kind = "missing proxy fence"
            m.recorder.race(kind, ops, ctas, (thread, place[1]), "mbarrier", (index,), 1)
    return True


def _exists(m: Machine, s: Strand, group: MBarriers, number: Ints, op: int) -> bool:
    outside = (number < 0) | (number >= group.number)
    if outside.any():
        lane = int(s.active[int(outside.argmax())])
        text = f"memory barrier {int(number[outside.argmax()])} of a group of {group.number}"
        m.recorder.fault("mbarrier", op, text, m.cta_of(s, lane), int(s.thread[lane]))
    return not outside.any()


def _initialised(m: Machine, s: Strand, group: MBarriers, cta: Ints, number: Ints, op: int) -> bool:
    """Report a barrier that is used before its `init`, or whose `init` the warp cannot know of."""
    if not _exists(m, s, group, number, op):
        return False
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


def _fault_where(m: Machine, s: Strand, bad: Bools, op: int, text: str) -> None:
    """Report a fault of the first marked active lane."""
    lane = int(s.active[int(bad.argmax())])
    m.recorder.fault("mbarrier", op, text, m.cta_of(s, lane), int(s.thread[lane]), count=int(bad.sum()))


def _check_overrun(m: Machine, s: Strand, group: MBarriers, cta: Ints, number: Ints, op: int) -> None:
    """Report more arrivals in a phase than its count."""
    over = group.pending[cta, number] < 0
    if over.any():
        which = int(number[int(over.argmax())])
        _fault_where(m, s, over, op, f"arrives at memory barrier {which} more often than its count")


def _check_bytes(m: Machine, s: Strand, group: MBarriers, cta: Ints, number: Ints, op: int) -> None:
    """Report more bytes in a phase than it can count."""
    over = group.bytes[cta, number] > MOST_BYTES
    if over.any():
        which = int(number[int(over.argmax())])
        text = f"makes memory barrier {which} wait for more than {MOST_BYTES} bytes"
        _fault_where(m, s, over, op, text)


def _check_missed(
    m: Machine, s: Strand, group: MBarriers, cta: Ints, number: Ints, warp: Ints, op: int
) -> None:
    """Report a wait that the parity of a later phase lets pass: the one waited for was missed."""
    passed = group.passed[cta, number, clocks_of(m).base[cta] + warp]
    missed = group.phase[cta, number] - passed
    bad = missed >= 2
    if bad.any():
        which, by = int(number[int(bad.argmax())]), int(missed[int(bad.argmax())])
        text = f"passes memory barrier {which}, {by} phases after the last that this warp waited for"
        _fault_where(m, s, bad, op, text)
