"""Rows of bulk copies: boxes of tensors by tensor maps, plain bytes, views of peers' shared memory."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from phobos_nb.cuda.emit import memory
from phobos_nb.cuda.emit.emitter import Emitter
from phobos_nb.cuda.emit.mbarrier import barrier, guarded
from phobos_nb.cuda.emit.table import row
from phobos_nb.ir.dialects.bulk import (
    BulkLoadOp,
    BulkPrefetchOp,
    BulkSendOp,
    BulkStoreOp,
    PeerOp,
    TensorPrefetchOp,
)
from phobos_nb.ir.dialects.nvgpu import TmaAsyncLoadOp, TmaAsyncStoreOp, TmaPrefetchOp

SWIZZLE_PERIOD = 1024
"""Bytes after which the swizzles of boxes repeat, to which shared memory is aligned for them."""


def _map(e: Emitter, descriptor: SSAValue) -> str:
    """The address of a tensor map, which the kernel takes as a parameter."""
    return f"&{e.text(descriptor)}"


def _axes(e: Emitter, coordinates: Sequence[SSAValue]) -> list[str]:
    return [e.text(x, "int") for x in coordinates]


@row("nvgpu.tma.async.load")
def _tensor_load(e: Emitter, op: Operation) -> None:
    assert isinstance(op, TmaAsyncLoadOp)
    e.shared_alignment = SWIZZLE_PERIOD
    key = f"tensor_load_{len(op.coordinates)}d"
    fixed = [e.text(op.dst), _map(e, op.descriptor), barrier(e, op.barriers, op.index)]
    if op.multicast_mask is not None:
        key += "_multicast"
        fixed.append(e.text(op.multicast_mask))
    guarded(e, op.predicate, e.call(key, *fixed, *_axes(e, op.coordinates)))


@row("nvgpu.tma.async.store")
def _tensor_store(e: Emitter, op: Operation) -> None:
    assert isinstance(op, TmaAsyncStoreOp)
    e.shared_alignment = SWIZZLE_PERIOD
    key = f"tensor_store_{len(op.coordinates)}d"
    fixed = (e.text(op.src), _map(e, op.descriptor))
    guarded(e, op.predicate, e.call(key, *fixed, *_axes(e, op.coordinates)))


@row("nvgpu.tma.prefetch.descriptor")
def _map_prefetch(e: Emitter, op: Operation) -> None:
    assert isinstance(op, TmaPrefetchOp)
    guarded(e, op.predicate, e.call("tensor_map_prefetch", _map(e, op.descriptor)))


@row("phobos.tma.prefetch")
def _tensor_prefetch(e: Emitter, op: Operation) -> None:
    assert isinstance(op, TensorPrefetchOp)
    key = f"tensor_prefetch_{len(op.coordinates)}d"
    e.line(f"{e.call(key, _map(e, op.descriptor), *_axes(e, op.coordinates))};")


@row("phobos.bulk.load")
def _load(e: Emitter, op: Operation) -> None:
    assert isinstance(op, BulkLoadOp)
    arguments = [
        memory.pointer(e, op.dst, list(op.dst_indices)),
        memory.pointer(e, op.src, list(op.src_indices)),
        e.text(op.bytes),
        barrier(e, op.barriers, op.index),
    ]
    key = "bulk_load"
    if op.multicast_mask is not None:
        key += "_multicast"
        arguments.append(e.text(op.multicast_mask))
    guarded(e, op.predicate, e.call(key, *arguments))


@row("phobos.bulk.store")
def _store(e: Emitter, op: Operation) -> None:
    assert isinstance(op, BulkStoreOp)
    target = memory.pointer(e, op.dst, list(op.dst_indices))
    source = memory.pointer(e, op.src, list(op.src_indices))
    guarded(e, op.predicate, e.call("bulk_store", target, source, e.text(op.bytes)))


@row("phobos.bulk.send")
def _send(e: Emitter, op: Operation) -> None:
    assert isinstance(op, BulkSendOp)
    target = memory.pointer(e, op.dst, list(op.dst_indices))
    source = memory.pointer(e, op.src, list(op.src_indices))
    counter = (barrier(e, op.barriers, op.index), e.text(op.rank))
    guarded(e, op.predicate, e.call("bulk_send", target, source, e.text(op.bytes), *counter))


@row("phobos.bulk.prefetch")
def _prefetch(e: Emitter, op: Operation) -> None:
    assert isinstance(op, BulkPrefetchOp)
    source = memory.pointer(e, op.src, list(op.src_indices))
    e.line(f"{e.call('bulk_prefetch', source, e.text(op.bytes))};")


@row("phobos.peer")
def _peer(e: Emitter, op: Operation) -> None:
    assert isinstance(op, PeerOp)
    own = memory.memory_of(e, op.memref)
    e.define(op.result, e.call("peer", e.text(op.memref), e.text(op.rank)), memory=own)
