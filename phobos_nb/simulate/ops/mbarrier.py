"""Rows of `nvgpu.mbarrier.*`."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.dialects.bulk import ArrivePeerOp
from phobos_nb.ir.dialects.nvgpu import (
    MBarrierArriveExpectTxOp,
    MBarrierArriveNoCompleteOp,
    MBarrierArriveOp,
    MBarrierCreateOp,
    MBarrierInitOp,
    MBarrierTestWaitOp,
    MBarrierTryWaitParityOp,
)
from phobos_nb.simulate.clusters import check_peers
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.mbarriers import (
    MBarriers,
    Polled,
    arrive,
    check_not_complete,
    initialise,
    test,
    token_of,
    wait,
)
from phobos_nb.simulate.program import Decoder, Row, Step
from phobos_nb.simulate.program_points import BLOCKED
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.trace import ACCESSES, trace_operation
from phobos_nb.simulate.values import is_array


def _create(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, MBarrierCreateOp)
    r, index, number = d.slot(op.barriers), d.op, op.barriers.type.barriers.data
    d.program.needs_clocks = True
    first = d.program.mbarriers
    d.program.mbarriers += number

    def step(m: Machine, s: Strand) -> None:
        group = m.mbarriers.get(index)
        if group is None:
            group = m.mbarriers[index] = MBarriers(number, first, len(m.ctas), m.clocks.rows)
        s.values[r] = group

    return step


def where_true(d: Decoder, predicate: SSAValue | None) -> Callable[[Strand, Callable[[], None]], None]:
    """Runs an action with only those lanes active for which an optional predicate holds."""
    if predicate is None:
        return lambda s, action: action()
    slot = d.slot(predicate)

    def run(s: Strand, action: Callable[[], None]) -> None:
        condition, outer = s.values[slot], s.mask
        if not is_array(condition):
            if condition:
                action()
            return
        s.set_mask(condition if outer is None else condition & outer)
        action()
        s.set_mask(outer)

    return run


def _init(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, MBarrierInitOp)
    group, count, number = d.slot(op.barriers), d.slot(op.count), d.slot(op.index)
    index = d.op
    only = where_true(d, op.predicate)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        only(s, lambda: initialise(m, s, v[group], v[number], v[count], index))

    return step


def _arrive(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, MBarrierArriveOp)
    group, number, token, index = d.slot(op.barriers), d.slot(op.index), d.slot(op.token), d.op

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        v[token] = token_of(s, v[group], v[number])
        arrive(m, s, v[group], v[number], index)

    return step


def _arrive_no_complete(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, MBarrierArriveNoCompleteOp)
    group, number, count = d.slot(op.barriers), d.slot(op.index), d.slot(op.count)
    token, index = d.slot(op.token), d.op

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        v[token] = token_of(s, v[group], v[number])
        arrive(m, s, v[group], v[number], index, times=v[count])
        check_not_complete(m, s, v[group], v[number], v[token], index)

    return step


def _arrive_peer(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, ArrivePeerOp)
    group, number, rank = d.slot(op.barriers), d.slot(op.index), d.slot(op.rank)
    only, index = where_true(d, op.predicate), d.op

    def act(m: Machine, s: Strand) -> None:
        v = s.values
        if check_peers(m, s, v[rank], index):
            arrive(m, s, v[group], v[number], index, peer=v[rank])

    def step(m: Machine, s: Strand) -> None:
        only(s, lambda: act(m, s))

    return step


def _expect(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, MBarrierArriveExpectTxOp)
    group, bytes_, number = d.slot(op.barriers), d.slot(op.bytes), d.slot(op.index)
    only, index = where_true(d, op.predicate), d.op

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        only(s, lambda: arrive(m, s, v[group], v[number], index, v[bytes_]))

    return step


def _test(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, MBarrierTestWaitOp)
    group, number, token = d.slot(op.barriers), d.slot(op.index), d.slot(op.token)
    r, index, following = d.slot(op.complete), d.op, d.here + 1

    def step(m: Machine, s: Strand) -> int | None:
        v = s.values
        v[r] = test(m, s, v[group], v[number], v[token], index)
        if v[r].any():
            return None
        s.pc, s.waiting = following, Polled(index)
        return BLOCKED

    return step


def _wait(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, MBarrierTryWaitParityOp)
    group, parity, number = d.slot(op.barriers), d.slot(op.parity), d.slot(op.index)
    index, here = d.op, d.here

    def step(m: Machine, s: Strand) -> int | None:
        v = s.values
        blocked = wait(m, s, v[group], v[number], v[parity], index, here)
        if blocked is None:
            trace_operation(m, s, index, "wait", ACCESSES)
        return blocked

    return step


MBARRIER_ROWS: dict[str, Row] = {
    "nvgpu.mbarrier.create": _create,
    "nvgpu.mbarrier.init": _init,
    "nvgpu.mbarrier.arrive": _arrive,
    "nvgpu.mbarrier.arrive.nocomplete": _arrive_no_complete,
    "nvgpu.mbarrier.arrive.expect_tx": _expect,
    "nvgpu.mbarrier.test.wait": _test,
    "nvgpu.mbarrier.try_wait.parity": _wait,
    "phobos.mbarrier.arrive.peer": _arrive_peer,
}
