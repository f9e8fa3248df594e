"""Rows of the dialect `nvvm`: named barriers, clusters, fences, groups of bulk copies, registers."""

from __future__ import annotations

from xdsl.dialects.gpu import DimensionAttr
from xdsl.ir import Operation

from phobos_nb.cuda.emit.emitter import Emitter
from phobos_nb.cuda.emit.table import row
from phobos_nb.cuda.reading import integer
from phobos_nb.ir.dialects.nvvm_sync import (
    BarrierArriveOp,
    BarrierOp,
    BulkWaitOp,
    FenceProxyOp,
    RegisterAction,
    SetMaxRegisterOp,
    SyncWarpOp,
)


@row("nvvm.barrier")
def _barrier(e: Emitter, op: Operation) -> None:
    assert isinstance(op, BarrierOp)
    number = "0" if op.id is None else e.text(op.id)
    if op.threads is None:
        e.line(f"{e.call('barrier_sync_all', number)};")
    else:
        e.line(f"{e.call('barrier_sync', number, e.text(op.threads))};")


@row("nvvm.barrier.arrive")
def _barrier_arrive(e: Emitter, op: Operation) -> None:
    assert isinstance(op, BarrierArriveOp)
    number = "0" if op.id is None else e.text(op.id)
    e.line(f"{e.call('barrier_arrive', number, e.text(op.threads))};")


@row("nvvm.bar.warp.sync")
def _sync_warp(e: Emitter, op: Operation) -> None:
    assert isinstance(op, SyncWarpOp)
    e.line(f"__syncwarp({e.text(op.mask)});")


CLUSTER = {
    "nvvm.cluster.arrive": "cluster_arrive_release",
    "nvvm.cluster.arrive.relaxed": "cluster_arrive_relaxed",
    "nvvm.cluster.wait": "cluster_wait_acquire",
}


@row(*CLUSTER)
def _cluster(e: Emitter, op: Operation) -> None:
    aligned = "_aligned" if "aligned" in op.properties else ""
    e.line(f"{e.call(CLUSTER[op.name] + aligned)};")


@row("nvvm.read.ptx.sreg.cluster.ctarank")
def _rank(e: Emitter, op: Operation) -> None:
    e.define(op.results[0], e.call("cluster_ctarank"))


PLACES = {
    "gpu.cluster_block_id": "cluster_ctaid",
    "gpu.cluster_dim_blocks": "cluster_nctaid",
    "gpu.cluster_id": "clusterid",
    "gpu.cluster_dim": "nclusterid",
}


@row(*PLACES)
def _place(e: Emitter, op: Operation) -> None:
    dimension = op.properties["dimension"]
    assert isinstance(dimension, DimensionAttr)
    e.define(op.results[0], e.call(f"{PLACES[op.name]}_{dimension.data}"))


@row("nvvm.fence.mbarrier.init")
def _fence_inits(e: Emitter, _op: Operation) -> None:
    e.line(f"{e.call('fence_mbarrier_init')};")


@row("nvvm.fence.proxy")
def _fence_proxy(e: Emitter, op: Operation) -> None:
    assert isinstance(op, FenceProxyOp)
    space = "" if op.space is None else f"_{op.space.data}"
    e.line(f"{e.call(f'fence_proxy_{op.kind.data}'.replace('.', '_') + space)};")


@row("nvvm.setmaxregister")
def _registers(e: Emitter, op: Operation) -> None:
    assert isinstance(op, SetMaxRegisterOp)
    way = "more" if op.action.data is RegisterAction.INCREASE else "fewer"
    e.line(f"{e.call(f'registers_{way}', template=f'<{integer(op.count)}>')};")


@row("nvvm.cp.async.bulk.commit.group")
def _commit(e: Emitter, _op: Operation) -> None:
    e.line(f"{e.call('bulk_commit')};")


@row("nvvm.cp.async.bulk.wait_group")
def _wait(e: Emitter, op: Operation) -> None:
    assert isinstance(op, BulkWaitOp)
    key = "bulk_wait" if op.read is None else "bulk_wait_read"
    e.line(f"{e.call(key, template=f'<{integer(op.groups)}>')};")
