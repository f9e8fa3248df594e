"""The dialect `memref`: what xDSL has, and the atomic update by a region that it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import memref as xdsl_memref
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import HasParent, IsTerminator, MemoryReadEffect, MemoryWriteEffect

from phobos_nb.ir.dialects import arith
from phobos_nb.ir.dialects.shapes import is_float, require

Value = SSAValue | Operation
ARRAY_OFFSET = "phobos.offset"
"""An attribute of views of shared memory: the byte at which the buffer begins that is looked at."""


@irdl_op_definition
class GenericAtomicRMWOp(IRDLOperation):
    """Replace an element by what the region makes of it, atomically; the result is the element before.

    The region's argument is the element before; it ends in `memref.atomic_yield`. Upstream's words say
    that the result is the value stored, its lowering to `llvm.cmpxchg` yields the one before.
    """

    name = "memref.generic_atomic_rmw"
    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    result = result_def()
    body = region_def("single_block")
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, memref: Value, indices: Sequence[Value], body: Region) -> None:
        element = cast("MemRefType[Attribute]", SSAValue.get(memref).type).element_type
        super().__init__(operands=[memref, indices], result_types=[element], regions=[body])

    @staticmethod
    def compare_and_swap(
        memref: Value, indices: Sequence[Value], compare: SSAValue, value: SSAValue
    ) -> GenericAtomicRMWOp:
        """Store `value` where the element equals `compare`."""
        block = Block(arg_types=[value.type])
        old = block.args[0]
        equal = (
            arith.CmpfOp(old, compare, "oeq")
            if is_float(value.type)
            else arith.CmpiOp(old, compare, "eq")
        )
        chosen = arith.SelectOp(equal, value, old)
        block.add_ops([equal, chosen, AtomicYieldOp(chosen)])
        return GenericAtomicRMWOp(memref, indices, Region(block))

    @property
    def swap(self) -> tuple[SSAValue, SSAValue] | None:
        """(compare, value) of a compare-and-swap; None for any other region."""
        old = self.body.block.args[0]
        last = self.body.block.last_op
        chosen = last.operands[0].owner if last is not None else None
        if not isinstance(chosen, arith.SelectOp) or chosen.rhs is not old:
            return None
        equal = chosen.cond.owner
        if not isinstance(equal, arith.CmpiOp | arith.CmpfOp) or equal.lhs is not old:
            return None
        return (equal.rhs, chosen.lhs) if equal.predicate_name in ("eq", "oeq") else None

    def verify_(self) -> None:
        """One index per axis; the region takes and yields the element."""
        type_ = cast("MemRefType[Attribute]", self.memref.type)
        rank = type_.get_num_dims()
        require(len(self.indices) == rank, f"wanted {rank} indices, found {len(self.indices)}")
        require(
            list(self.body.block.arg_types) == [type_.element_type],
            f"region: wanted one argument of type {type_.element_type}",
        )


@irdl_op_definition
class AtomicYieldOp(IRDLOperation):
    """The new element of a `memref.generic_atomic_rmw`."""

    name = "memref.atomic_yield"
    result = operand_def()
    traits = traits_def(IsTerminator(), HasParent(GenericAtomicRMWOp))

    def __init__(self, result: Value) -> None:
        super().__init__(operands=[result])


MemRef = Dialect(
    "memref",
    [*xdsl_memref.MemRef.operations, GenericAtomicRMWOp, AtomicYieldOp],
    [*xdsl_memref.MemRef.attributes],
)
