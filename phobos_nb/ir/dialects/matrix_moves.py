"""Moves of 8x8 tiles by a warp that upstream has only on bare pointers, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import BoolAttr, FixedBitwidthType, IndexType, MemRefType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryWriteEffect, Pure

from phobos_nb.ir.dialects.address_space import WORKGROUP
from phobos_nb.ir.dialects.shapes import element_of, require, shape_of, show

Value = SSAValue | Operation


def _require_tiles(what: str, type_: Attribute, tiles: tuple[int, ...]) -> None:
    shape = shape_of(type_) or ()
    width = cast(FixedBitwidthType, element_of(type_)).bitwidth
    require(width == 16, f"{what}: wanted elements of 16 bits, found {width}")
    good = len(shape) == 2 and shape[0] in tiles and shape[1] == 2
    wanted = " or ".join(show((n, 2)) for n in tiles)
    require(good, f"{what}: wanted shape {wanted}, found {show(shape)}")


@irdl_op_definition
class StMatrixOp(IRDLOperation):
    """`stmatrix`: store 1, 2 or 4 8x8 tiles of 16-bit elements; lane l gives the address of row l.

    The mirror of `nvgpu.ldmatrix`; upstream's `nvvm.stmatrix` takes pointers and bare registers.
    """

    name = "phobos.stmatrix"
    value = operand_def(VectorType)
    dst = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    transpose = prop_def(BoolAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$value `,` $dst `[` $indices `]` attr-dict `:` type($value) `,` type($dst)"

    def __init__(
        self, value: Value, dst: Value, indices: Sequence[Value], *, transpose: bool = False
    ) -> None:
        super().__init__(
            operands=[value, dst, indices],
            properties={"transpose": BoolAttr.from_bool(transpose)},
        )

    def verify_(self) -> None:
        """Shared target of the fragment's elements, 1, 2 or 4 tiles."""
        memref = cast("MemRefType[Attribute]", self.dst.type)
        require(
            memref.memory_space == WORKGROUP,
            f"target: wanted memory space {WORKGROUP}, found {memref.memory_space}",
        )
        rank = memref.get_num_dims()
        require(len(self.indices) == rank, f"target: wanted {rank} indices, found {len(self.indices)}")
        _require_tiles("value", self.value.type, (1, 2, 4))


@irdl_op_definition
class MovMatrixOp(IRDLOperation):
    """`movmatrix`: the transpose of an 8x8 tile of 16-bit elements across the lanes of a warp."""

    T: ClassVar = VarConstraint("T", BaseAttr(VectorType))

    name = "phobos.movmatrix"
    value = operand_def(T)
    result = result_def(T)
    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: Value) -> None:
        super().__init__(operands=[value], result_types=[SSAValue.get(value).type])

    def verify_(self) -> None:
        """One tile."""
        _require_tiles("value", self.value.type, (1,))


MATRIX_OPS: list[type[Operation]] = [StMatrixOp, MovMatrixOp]
