"""Bulk copies of plain bytes and the shared memory of a cluster's other CTAs.

Upstream has them only on raw pointers (`nvvm.cp.async.bulk.*`, `nvvm.mapa`), which nothing could check
or simulate; here they are on memrefs, with the memory barriers of `nvgpu`.

Note [Peer memory]
`phobos.peer` gives the same view in the shared memory of another CTA of the cluster: a memref in memory
space 7, LLVM's name for it. Loads, stores and bulk copies may use it from when that CTA is known to have
started until it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, i1, i16, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from phobos_nb.ir.dialects.address_space import WORKGROUP
from phobos_nb.ir.dialects.nvgpu_mbarrier import MBarrierGroupType
from phobos_nb.ir.dialects.nvgpu_tma import TensorMapType
from phobos_nb.ir.dialects.shapes import require

Value = SSAValue | Operation
CLUSTER = IntegerAttr(7, i64)
"""The memory space of another CTA's shared memory."""


def space_of(value: SSAValue) -> Attribute:
    """The memory space of a memref."""
    return cast("MemRefType[Attribute]", value.type).memory_space


def _require_rank(what: str, memref: SSAValue, indices: Sequence[SSAValue]) -> None:
    rank = cast("MemRefType[Attribute]", memref.type).get_num_dims()
    require(len(indices) == rank, f"{what}: wanted {rank} indices, found {len(indices)}")


def _require_space(what: str, memref: SSAValue, space: Attribute) -> None:
    found = space_of(memref)
    require(found == space, f"{what}: wanted memory space {space}, found {found}")


def _require_global(what: str, memref: SSAValue) -> None:
    found = space_of(memref)
    require(found not in (WORKGROUP, CLUSTER), f"{what}: wanted global memory, found {found}")


@irdl_op_definition
class PeerOp(IRDLOperation):
    """The same view in the shared memory of the cluster's CTA number `rank` (`mapa`)."""

    name = "phobos.peer"
    memref = operand_def(MemRefType)
    rank = operand_def(IndexType())
    result = result_def(MemRefType)
    traits = traits_def(Pure())

    def __init__(self, memref: Value, rank: Value) -> None:
        own = cast("MemRefType[Attribute]", SSAValue.get(memref).type)
        there = MemRefType(own.element_type, own.shape, own.layout, CLUSTER)
        super().__init__(operands=[memref, rank], result_types=[there])

    def verify_(self) -> None:
        """From shared memory to the same type in the cluster's space."""
        require(space_of(self.memref) == WORKGROUP, "wanted a memref in shared memory")
        own = cast("MemRefType[Attribute]", self.memref.type)
        there = MemRefType(own.element_type, own.shape, own.layout, CLUSTER)
        require(self.result.type == there, f"result: wanted {there}, found {self.result.type}")


@irdl_op_definition
class BulkLoadOp(IRDLOperation):
    """`cp.async.bulk` of bytes from global to shared memory; barrier `index` counts them.

    With a mask, every CTA of the cluster whose bit is set gets them at the same place, counted by its
    own barrier. Both addresses and `bytes` are multiples of 16.
    """

    name = "phobos.bulk.load"
    dst = operand_def(MemRefType)
    dst_indices = var_operand_def(IndexType())
    src = operand_def(MemRefType)
    src_indices = var_operand_def(IndexType())
    bytes = operand_def(IndexType())
    barriers = operand_def(MBarrierGroupType)
    index = operand_def(IndexType())
    multicast_mask = opt_operand_def(i16)
    predicate = opt_operand_def(i1)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        dst: tuple[Value, Sequence[Value]],
        src: tuple[Value, Sequence[Value]],
        bytes_: Value,
        barriers: Value,
        index: Value,
        *,
        multicast_mask: Value | None = None,
        predicate: Value | None = None,
    ) -> None:
        super().__init__(
            operands=[*dst, *src, bytes_, barriers, index, multicast_mask, predicate],
        )

    def verify_(self) -> None:
        """From global to shared memory, as many indices as axes."""
        _require_rank("target", self.dst, self.dst_indices)
        _require_rank("source", self.src, self.src_indices)
        _require_space("target", self.dst, WORKGROUP)
        _require_global("source", self.src)


@irdl_op_definition
class BulkStoreOp(IRDLOperation):
    """`cp.async.bulk` of bytes from shared to global memory, in the thread's open group."""

    name = "phobos.bulk.store"
    dst = operand_def(MemRefType)
    dst_indices = var_operand_def(IndexType())
    src = operand_def(MemRefType)
    src_indices = var_operand_def(IndexType())
    bytes = operand_def(IndexType())
    predicate = opt_operand_def(i1)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        dst: tuple[Value, Sequence[Value]],
        src: tuple[Value, Sequence[Value]],
        bytes_: Value,
        predicate: Value | None = None,
    ) -> None:
        super().__init__(operands=[*dst, *src, bytes_, predicate])

    def verify_(self) -> None:
        """From shared to global memory, as many indices as axes."""
        _require_rank("target", self.dst, self.dst_indices)
        _require_rank("source", self.src, self.src_indices)
        _require_global("target", self.dst)
        _require_space("source", self.src, WORKGROUP)


@irdl_op_definition
class BulkSendOp(IRDLOperation):
    """`cp.async.bulk` of bytes to another CTA's shared memory; that CTA's barrier `index` counts them.

    `rank` is the CTA in the cluster that `dst` is a view of.
    """

    name = "phobos.bulk.send"
    dst = operand_def(MemRefType)
    dst_indices = var_operand_def(IndexType())
    src = operand_def(MemRefType)
    src_indices = var_operand_def(IndexType())
    bytes = operand_def(IndexType())
    barriers = operand_def(MBarrierGroupType)
    index = operand_def(IndexType())
    rank = operand_def(IndexType())
    predicate = opt_operand_def(i1)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        dst: tuple[Value, Sequence[Value]],
        src: tuple[Value, Sequence[Value]],
        bytes_: Value,
        barriers: Value,
        index: Value,
        rank: Value,
        predicate: Value | None = None,
    ) -> None:
        super().__init__(operands=[*dst, *src, bytes_, barriers, index, rank, predicate])

    def verify_(self) -> None:
        """From shared to peer memory, as many indices as axes."""
        _require_rank("target", self.dst, self.dst_indices)
        _require_rank("source", self.src, self.src_indices)
        _require_space("target", self.dst, CLUSTER)
        _require_space("source", self.src, WORKGROUP)


@irdl_op_definition
class ArrivePeerOp(IRDLOperation):
    """Arrive at barrier `index` of the cluster's CTA number `rank`.

    What the warp read before is over for whoever waits there. What it wrote, it must hand over by a
    barrier of the cluster: the form without `.release.cluster` is printed, since the other one waits for
    all of the warp's memory traffic.
    """

    name = "phobos.mbarrier.arrive.peer"
    barriers = operand_def(MBarrierGroupType)
    index = operand_def(IndexType())
    rank = operand_def(IndexType())
    predicate = opt_operand_def(i1)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, barriers: Value, index: Value, rank: Value, predicate: Value | None = None
    ) -> None:
        super().__init__(operands=[barriers, index, rank, predicate])


@irdl_op_definition
class BulkPrefetchOp(IRDLOperation):
    """`cp.async.bulk.prefetch.L2`: bring bytes of global memory into the L2 cache."""

    name = "phobos.bulk.prefetch"
    src = operand_def(MemRefType)
    src_indices = var_operand_def(IndexType())
    bytes = operand_def(IndexType())
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, src: tuple[Value, Sequence[Value]], bytes_: Value) -> None:
        super().__init__(operands=[*src, bytes_])

    def verify_(self) -> None:
        """Of global memory, as many indices as axes."""
        _require_rank("source", self.src, self.src_indices)
        _require_global("source", self.src)


@irdl_op_definition
class TensorPrefetchOp(IRDLOperation):
    """`cp.async.bulk.prefetch.tensor`: bring a box of a tensor into the L2 cache."""

    name = "phobos.tma.prefetch"
    descriptor = operand_def(TensorMapType)
    coordinates = var_operand_def(IndexType())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, descriptor: Value, coordinates: Sequence[Value]) -> None:
        super().__init__(operands=[descriptor, coordinates])


BULK_OPS: list[type[Operation]] = [
    PeerOp,
    BulkLoadOp,
    BulkStoreOp,
    BulkSendOp,
    ArrivePeerOp,
    BulkPrefetchOp,
    TensorPrefetchOp,
]
