"""Bulk copies, peers' shared memory and remote arrivals as upstream's operations on pointers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import llvm, memref
from xdsl.dialects.builtin import UnrealizedConversionCastOp, i32, i64
from xdsl.ir import Operation, OpResult, SSAValue

from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects.bulk import (
    CLUSTER,
    ArrivePeerOp,
    BulkLoadOp,
    BulkPrefetchOp,
    BulkSendOp,
    BulkStoreOp,
    PeerOp,
    TensorPrefetchOp,
    space_of,
)
from phobos_nb.ir.dialects.nvgpu import MBarrierGetOp
from phobos_nb.ir.dialects.nvvm_bulk import (
    CLUSTER_POINTER,
    GLOBAL_POINTER,
    SHARED_POINTER,
    GlobalToClusterOp,
    MapaOp,
    PrefetchPointerOp,
    SharedToClusterOp,
    SharedToGlobalOp,
)
from phobos_nb.ir.dialects.nvvm_matrix import InlinePtxOp
from phobos_nb.ir.upstream_addresses import byte_address

Indices = Sequence[SSAValue]


def _pointer(b: Builder, address: SSAValue, type_: llvm.LLVMPointerType) -> SSAValue:
    return b.value(llvm.IntToPtrOp.create(operands=[address], result_types=[type_]))


def _place(b: Builder, base: SSAValue, indices: Indices, type_: llvm.LLVMPointerType) -> SSAValue:
    """A pointer to an element."""
    return _pointer(b, byte_address(b, base, indices), type_)


def _barrier(b: Builder, group: SSAValue, index: SSAValue) -> SSAValue:
    return _pointer(b, b.value(MBarrierGetOp(group, index)), SHARED_POINTER)


def _i32(b: Builder, value: SSAValue) -> SSAValue:
    return b.index_cast(value, i32)


def _guarded(b: Builder, predicate: SSAValue | None, make: Callable[[], Operation]) -> None:
    """Insert an operation, under a condition where there is one."""
    if predicate is None:
        b.insert(make())
        return
    branch = b.if_(predicate, [])
    with b.inside(branch.true_region.block):
        b.insert(make())
        b.yield_([])


def _load(b: Builder, op: Operation) -> list[SSAValue]:
    assert isinstance(op, BulkLoadOp)
    mask = op.multicast_mask
    target = _place(b, op.dst, op.dst_indices, CLUSTER_POINTER)  # the window holds the CTA's own
    source = _place(b, op.src, op.src_indices, GLOBAL_POINTER)
    barrier, size = _barrier(b, op.barriers, op.index), _i32(b, op.bytes)
    _guarded(b, op.predicate, lambda: GlobalToClusterOp(target, source, barrier, size, mask))
    return []


def _store(b: Builder, op: Operation) -> list[SSAValue]:
    assert isinstance(op, BulkStoreOp)
    target = _place(b, op.dst, op.dst_indices, GLOBAL_POINTER)
    source = _place(b, op.src, op.src_indices, SHARED_POINTER)
    size = _i32(b, op.bytes)
    _guarded(b, op.predicate, lambda: SharedToGlobalOp(target, source, size))
    return []


def _there(b: Builder, memref_: SSAValue, indices: Indices) -> SSAValue:
    """A pointer to an element of a peer's view, by the view that it was made from."""
    made = memref_.op if isinstance(memref_, OpResult) else None
    if not isinstance(made, PeerOp):
        raise NotImplementedError("a peer's shared memory that does not come from phobos.peer itself")
    own = _place(b, made.memref, indices, SHARED_POINTER)
    return b.value(MapaOp(own, _i32(b, made.rank)))


def _send(b: Builder, op: Operation) -> list[SSAValue]:
    assert isinstance(op, BulkSendOp)
    target, size = _there(b, op.dst, op.dst_indices), _i32(b, op.bytes)
    source = _place(b, op.src, op.src_indices, SHARED_POINTER)
    counter = b.value(MapaOp(_barrier(b, op.barriers, op.index), _i32(b, op.rank)))
    address = b.value(llvm.PtrToIntOp(counter, i64))
    barrier = _pointer(b, address, SHARED_POINTER)  # the type that upstream wants for it
    _guarded(b, op.predicate, lambda: SharedToClusterOp(target, source, barrier, size))
    return []


def _arrive_peer(b: Builder, op: Operation) -> list[SSAValue]:
    assert isinstance(op, ArrivePeerOp)
    counter = b.value(MapaOp(_barrier(b, op.barriers, op.index), _i32(b, op.rank)))
    code = "mbarrier.arrive.shared::cluster.b64 _, [$0];"
    _guarded(b, op.predicate, lambda: InlinePtxOp(code, [counter], []))
    return []


def _prefetch(b: Builder, op: Operation) -> list[SSAValue]:
    assert isinstance(op, BulkPrefetchOp)
    source = _place(b, op.src, op.src_indices, GLOBAL_POINTER)
    b.insert(PrefetchPointerOp(source, _i32(b, op.bytes)))
    return []


def _tensor_prefetch(b: Builder, op: Operation) -> list[SSAValue]:
    assert isinstance(op, TensorPrefetchOp)
    axes = len(op.coordinates)
    cast_ = UnrealizedConversionCastOp.get([op.descriptor], [llvm.LLVMPointerType()])
    pointer = b.value(cast_)
    places = ", ".join(f"${k + 1}" for k in range(axes))
    code = f"cp.async.bulk.prefetch.tensor.{axes}d.L2.global.tile [$0, {{{places}}}];"
    b.insert(InlinePtxOp(code, [pointer, *(_i32(b, x) for x in op.coordinates)], []))
    return []


def _peer_load(b: Builder, op: Operation) -> list[SSAValue] | None:
    assert isinstance(op, memref.LoadOp)
    if space_of(op.memref) != CLUSTER:
        return None
    return [b.value(llvm.LoadOp(_there(b, op.memref, op.indices), op.res.type))]


def _peer_store(b: Builder, op: Operation) -> list[SSAValue] | None:
    assert isinstance(op, memref.StoreOp)
    if space_of(op.memref) != CLUSTER:
        return None
    b.insert(llvm.StoreOp(op.value, _there(b, op.memref, op.indices)))
    return []


BULK_REWRITES: Mapping[str, Callable[[Builder, Operation], list[SSAValue] | None]] = {
    "phobos.bulk.load": _load,
    "phobos.bulk.store": _store,
    "phobos.bulk.send": _send,
    "phobos.bulk.prefetch": _prefetch,
    "phobos.tma.prefetch": _tensor_prefetch,
    "phobos.mbarrier.arrive.peer": _arrive_peer,
    "memref.load": _peer_load,
    "memref.store": _peer_store,
}
"""What each becomes; `None` leaves the operation as it is."""
