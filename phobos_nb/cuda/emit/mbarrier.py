"""Rows of `nvgpu.mbarrier.*`: 8 bytes of shared memory each.

Where the planned shared memory is static they are an array beside it. Where it is dynamic they are its
last bytes, which `phobos.shared_bytes` counts: a static array would push the dynamic one off its
alignment.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from phobos_nb.cuda.emit.emitter import Emitter, Spelled
from phobos_nb.cuda.emit.table import row
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

STATE = "unsigned long long"
"""The type of a barrier, and of the token that an arrival gives."""


def barrier(e: Emitter, group: SSAValue, index: SSAValue) -> str:
    """The address of one barrier of a group."""
    return f"&{e.text(group)}[{e.text(index)}]"


def guarded(e: Emitter, predicate: SSAValue | None, call: str) -> None:
    """A statement, under a condition where there is one."""
    e.line(f"{call};" if predicate is None else f"if ({e.text(predicate)}) {call};")


@row("nvgpu.mbarrier.create")
def _create(e: Emitter, op: Operation) -> None:
    assert isinstance(op, MBarrierCreateOp)
    name = e.barriers_named(op.barriers.name_hint or "barriers", op.barriers.type.barriers.data)
    e.bind(op.barriers, Spelled(name, f"{STATE}*"))


@row("nvgpu.mbarrier.init")
def _init(e: Emitter, op: Operation) -> None:
    assert isinstance(op, MBarrierInitOp)
    place = barrier(e, op.barriers, op.index)
    guarded(e, op.predicate, e.call("mbarrier_init", place, e.text(op.count)))


def _token(e: Emitter, token: SSAValue, call: str) -> None:
    """An arrival, whose token is kept where it is used."""
    if not any(True for _ in token.uses):
        e.line(f"{call};")
        e.bind(token, Spelled("", STATE))
        return
    name = e.names.fresh(token.name_hint)
    e.line(f"const {STATE} {name} = {call};")
    e.bind(token, Spelled(name, STATE))


@row("nvgpu.mbarrier.arrive")
def _arrive(e: Emitter, op: Operation) -> None:
    assert isinstance(op, MBarrierArriveOp)
    _token(e, op.token, e.call("mbarrier_arrive", barrier(e, op.barriers, op.index)))


@row("nvgpu.mbarrier.arrive.nocomplete")
def _arrive_no_complete(e: Emitter, op: Operation) -> None:
    assert isinstance(op, MBarrierArriveNoCompleteOp)
    place = barrier(e, op.barriers, op.index)
    _token(e, op.token, e.call("mbarrier_arrive_no_complete", place, e.text(op.count)))


@row("nvgpu.mbarrier.arrive.expect_tx")
def _expect(e: Emitter, op: Operation) -> None:
    assert isinstance(op, MBarrierArriveExpectTxOp)
    place = barrier(e, op.barriers, op.index)
    guarded(e, op.predicate, e.call("mbarrier_arrive_expect", place, e.text(op.bytes)))


@row("phobos.mbarrier.arrive.peer")
def _arrive_peer(e: Emitter, op: Operation) -> None:
    assert isinstance(op, ArrivePeerOp)
    place = barrier(e, op.barriers, op.index)
    guarded(e, op.predicate, e.call("mbarrier_arrive_peer", place, e.text(op.rank)))


@row("nvgpu.mbarrier.test.wait")
def _test(e: Emitter, op: Operation) -> None:
    assert isinstance(op, MBarrierTestWaitOp)
    place = barrier(e, op.barriers, op.index)
    e.define(op.complete, e.call("mbarrier_test", place, e.text(op.token)))


@row("nvgpu.mbarrier.try_wait.parity")
def _wait(e: Emitter, op: Operation) -> None:
    assert isinstance(op, MBarrierTryWaitParityOp)
    place = barrier(e, op.barriers, op.index)
    e.line(f"{e.call('mbarrier_wait', place, e.text(op.parity), e.text(op.ticks))};")
