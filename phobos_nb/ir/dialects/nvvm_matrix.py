"""Upstream's `nvvm.stmatrix` on a pointer, and `nvvm.inline_ptx`: what moves of tiles become there."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i32
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.str_enum import StrEnum

from phobos_nb.ir.dialects.bracketed import Bracketed
from phobos_nb.ir.dialects.nvvm_wgmma import Layout, LayoutAttr

Value = SSAValue | Operation


@irdl_attr_definition
class TileShapeAttr(ParametrizedAttribute):
    """`#nvvm.ld_st_matrix_shape<m = 8, n = 8>`."""

    name = "nvvm.ld_st_matrix_shape"
    m: IntegerAttr
    n: IntegerAttr

    def __init__(self, m: int = 8, n: int = 8) -> None:
        super().__init__(IntegerAttr(m, i32), IntegerAttr(n, i32))

    def print_parameters(self, printer: Printer) -> None:
        """Print both extents by name."""
        with printer.in_angle_brackets():
            printer.print_string(f"m = {self.m.value.data}, n = {self.n.value.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parse both extents by name."""
        with parser.in_angle_brackets():
            parser.parse_keyword("m")
            parser.parse_punctuation("=")
            m = parser.parse_integer()
            parser.parse_punctuation(",")
            parser.parse_keyword("n")
            parser.parse_punctuation("=")
            return [IntegerAttr(m, i32), IntegerAttr(parser.parse_integer(), i32)]


class TileElement(StrEnum):
    """Element types of tiles."""

    B16 = "b16"
    B8 = "b8"


@irdl_attr_definition
class TileElementAttr(Bracketed, EnumAttribute[TileElement]):
    """`#nvvm.ld_st_matrix_elt_type<..>`."""

    name = "nvvm.ld_st_matrix_elt_type"


@irdl_op_definition
class StMatrixPointerOp(IRDLOperation):
    """`stmatrix` of 1, 2 or 4 registers to the row that each lane's pointer names."""

    name = "nvvm.stmatrix"
    pointer = operand_def(LLVMPointerType)
    registers = var_operand_def(i32)
    layout = prop_def(LayoutAttr)
    shape = prop_def(TileShapeAttr)
    element = prop_def(TileElementAttr, prop_name="eltType")
    traits = traits_def(MemoryWriteEffect())

    def __init__(self, pointer: Value, registers: Sequence[Value], layout: Layout) -> None:
        super().__init__(
            operands=[pointer, registers],
            properties={
                "layout": LayoutAttr(layout),
                "shape": TileShapeAttr(),
                "eltType": TileElementAttr(TileElement.B16),
            },
        )


@irdl_op_definition
class InlinePtxOp(IRDLOperation):
    """A piece of PTX: results are `{$0}`, ..., then the operands."""

    name = "nvvm.inline_ptx"
    read_only = var_operand_def()
    read_write = var_operand_def()
    predicate = opt_operand_def()
    code = prop_def(StringAttr, prop_name="ptxCode")
    written = var_result_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, code: str, operands: Sequence[Value], results: Sequence[Attribute]) -> None:
        super().__init__(
            operands=[operands, [], None],
            result_types=[results],
            properties={"ptxCode": StringAttr(code)},
        )


NVVM_MATRIX_OPS: list[type[Operation]] = [StMatrixPointerOp, InlinePtxOp]
NVVM_MATRIX_ATTRIBUTES: list[type[Attribute]] = [TileShapeAttr, TileElementAttr]
