"""Rows of the dialect `nvvm`: named barriers, clusters, fences, groups of bulk stores, registers."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from phobos_nb.ir.dialects.nvvm_sync import (
    BarrierArriveOp,
    BarrierOp,
    BulkWaitOp,
    FenceProxyOp,
    ProxyKind,
    RegisterAction,
    SetMaxRegisterOp,
)
from phobos_nb.simulate import bulk_copies, clusters, named_barriers, registers, warp_meetings
from phobos_nb.simulate.clocks import GLOBAL, INITS, SHARED
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.program import Decoder, Row, Step
from phobos_nb.simulate.proxies import fence
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.trace import ACCESSES, trace_operation

PLANES_OF: dict[ProxyKind, tuple[int, ...]] = {
    ProxyKind.ALIAS: (),
    ProxyKind.ASYNC: (SHARED, GLOBAL, INITS),
    ProxyKind.ASYNC_GLOBAL: (GLOBAL,),
    ProxyKind.ASYNC_SHARED: (SHARED, INITS),
}
"""What a fence hands to the asynchronous proxy."""


def _barrier(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, BarrierOp)
    d.program.needs_clocks = True
    number = None if op.id is None else d.slot(op.id)
    threads = None if op.threads is None else d.slot(op.threads)
    index, following = d.op, d.here + 1

    def step(m: Machine, s: Strand) -> int | None:
        v = s.values
        which = 0 if number is None else v[number]
        wanted = None if threads is None else v[threads]
        trace_operation(m, s, index, "barrier", ACCESSES)
        return named_barriers.sync(m, s, index, which, wanted, following)

    return step


def _barrier_arrive(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, BarrierArriveOp)
    d.program.needs_clocks = True
    number = None if op.id is None else d.slot(op.id)
    threads, index = d.slot(op.threads), d.op

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        named_barriers.arrive(m, s, index, 0 if number is None else v[number], v[threads])

    return step


def _sync_warp(d: Decoder, op: Operation) -> Step:
    d.program.needs_clocks = True
    d.keep_reason(op)
    mask, index = d.slot(op.operands[0]), d.op

    def step(m: Machine, s: Strand) -> None:
        trace_operation(m, s, index, "barrier", ACCESSES)
        m.recorder.barrier(index, len(s.leaders))
        warp_meetings.meet(m, s, index, s.values[mask])

    return step


def _cluster_arrive(*, relaxed: bool) -> Row:
    def row(d: Decoder, op: Operation) -> Step:
        d.program.needs_clocks = True
        index = d.op

        def step(m: Machine, s: Strand) -> None:
            clusters.arrive(m, s, index, relaxed=relaxed)

        return step

    return row


def _cluster_wait(d: Decoder, op: Operation) -> Step:
    index, here = d.op, d.here

    def step(m: Machine, s: Strand) -> int | None:
        return clusters.wait(m, s, index, here)

    return step


def _rank(d: Decoder, op: Operation) -> Step:
    r = d.slot(op.results[0])

    def step(m: Machine, s: Strand) -> None:
        s.values[r] = (s.cta % m.shape.agents.cluster).astype(np.int32)

    return step


def _fence_inits(d: Decoder, op: Operation) -> Step:
    d.program.needs_clocks = True

    def step(m: Machine, s: Strand) -> None:
        fence(m, s, (INITS,))

    return step


def _fence_proxy(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, FenceProxyOp)
    d.program.needs_clocks = True
    planes = PLANES_OF[op.kind.data]

    def step(m: Machine, s: Strand) -> None:
        fence(m, s, planes)

    return step


def _set_registers(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, SetMaxRegisterOp)
    count, more = op.count.value.data, op.action.data is RegisterAction.INCREASE
    d.program.needs_clocks = True
    index, here = d.op, d.here
    function = op.parent_op()
    while function is not None and function.name != "gpu.func":
        function = function.parent_op()
    set_ = None if function is None else function.attributes.get("phobos.max_registers")
    asked = set_.value.data if isinstance(set_, IntegerAttr) else 0

    def step(m: Machine, s: Strand) -> int | None:
        start = registers.at_launch(m.shape.threads, asked)
        return registers.change(m, s, index, count, start, here, more=more)

    return step


def _commit(d: Decoder, op: Operation) -> Step:
    d.program.needs_clocks = True

    def step(m: Machine, s: Strand) -> None:
        bulk_copies.commit(m, s)

    return step


def _wait_groups(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, BulkWaitOp)
    d.program.needs_clocks = d.program.stores = True
    groups, read, index = op.groups.value.data, op.read is not None, d.op

    def step(m: Machine, s: Strand) -> None:
        bulk_copies.wait(m, s, groups, read=read)
        trace_operation(m, s, index, "wait", ACCESSES)

    return step


ROWS: dict[str, Row] = {
    "nvvm.barrier": _barrier,
    "nvvm.barrier.arrive": _barrier_arrive,
    "nvvm.bar.warp.sync": _sync_warp,
    "nvvm.cluster.arrive": _cluster_arrive(relaxed=False),
    "nvvm.cluster.arrive.relaxed": _cluster_arrive(relaxed=True),
    "nvvm.cluster.wait": _cluster_wait,
    "nvvm.read.ptx.sreg.cluster.ctarank": _rank,
    "nvvm.fence.mbarrier.init": _fence_inits,
    "nvvm.fence.proxy": _fence_proxy,
    "nvvm.setmaxregister": _set_registers,
    "nvvm.cp.async.bulk.commit.group": _commit,
    "nvvm.cp.async.bulk.wait_group": _wait_groups,
}
