"""Upstream's bulk copies on raw pointers: what `phobos.bulk.*` and `phobos.peer` become for it."""

from __future__ import annotations

from xdsl.dialects.builtin import IntAttr, i16, i32, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

Value = SSAValue | Operation
SHARED_POINTER = LLVMPointerType(IntAttr(3))
CLUSTER_POINTER = LLVMPointerType(IntAttr(7))
GLOBAL_POINTER = LLVMPointerType(IntAttr(1))


@irdl_op_definition
class GlobalToClusterOp(IRDLOperation):
    """`cp.async.bulk.shared::cluster.global`."""

    name = "nvvm.cp.async.bulk.shared.cluster.global"
    dst = operand_def(LLVMPointerType)
    src = operand_def(LLVMPointerType)
    barrier = operand_def(LLVMPointerType)
    size = operand_def(i32)
    mask = opt_operand_def(i16)
    hint = opt_operand_def(i64)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, dst: Value, src: Value, barrier: Value, size: Value, mask: Value | None = None
    ) -> None:
        super().__init__(operands=[dst, src, barrier, size, mask, None])


@irdl_op_definition
class SharedToGlobalOp(IRDLOperation):
    """`cp.async.bulk.global.shared::cta`."""

    name = "nvvm.cp.async.bulk.global.shared.cta"
    dst = operand_def(LLVMPointerType)
    src = operand_def(LLVMPointerType)
    size = operand_def(i32)
    hint = opt_operand_def(i64)
    bytes = opt_operand_def(i16)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, dst: Value, src: Value, size: Value) -> None:
        super().__init__(operands=[dst, src, size, None, None])


@irdl_op_definition
class SharedToClusterOp(IRDLOperation):
    """`cp.async.bulk.shared::cluster.shared::cta`."""

    name = "nvvm.cp.async.bulk.shared.cluster.shared.cta"
    dst = operand_def(LLVMPointerType)
    src = operand_def(LLVMPointerType)
    barrier = operand_def(LLVMPointerType)
    size = operand_def(i32)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, dst: Value, src: Value, barrier: Value, size: Value) -> None:
        super().__init__(operands=[dst, src, barrier, size])


@irdl_op_definition
class PrefetchPointerOp(IRDLOperation):
    """`cp.async.bulk.prefetch.L2`."""

    name = "nvvm.cp.async.bulk.prefetch"
    src = operand_def(LLVMPointerType)
    size = operand_def(i32)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, src: Value, size: Value) -> None:
        super().__init__(operands=[src, size])


@irdl_op_definition
class MapaOp(IRDLOperation):
    """`mapa`: the address of the same place in the shared memory of another CTA of the cluster."""

    name = "nvvm.mapa"
    address = operand_def(LLVMPointerType)
    rank = operand_def(i32)
    result = result_def(LLVMPointerType)
    traits = traits_def(Pure())

    def __init__(self, address: Value, rank: Value) -> None:
        super().__init__(operands=[address, rank], result_types=[CLUSTER_POINTER])


NVVM_BULK_OPS: list[type[Operation]] = [
    GlobalToClusterOp,
    SharedToGlobalOp,
    SharedToClusterOp,
    PrefetchPointerOp,
    MapaOp,
]
