"""Upstream's own products of a warpgroup, `nvgpu.warpgroup.*`: whole tiles on a hidden accumulator.

Modules that upstream or others wrote hold them; they verify and come back unchanged. Generated code uses
`phobos.wgmma`, whose accumulator an epilogue can read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, MemRefType, UnitAttr, VectorType, i64
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from phobos_nb.ir.dialects.nvgpu_tma import TensorMapType
from phobos_nb.ir.dialects.shapes import require, shape_of, show

Value = SSAValue | Operation


class _Named(ParametrizedAttribute):
    """Prints and parses `<field = type>` with the name of its one parameter."""

    def print_parameters(self, printer: Printer) -> None:
        """Print `<field = type>`."""
        with printer.in_angle_brackets():
            printer.print_string(f"{_parameter(type(self))} = ")
            printer.print_attribute(self.parameters[0])

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parse `<field = type>`."""
        with parser.in_angle_brackets():
            parser.parse_keyword(_parameter(cls))
            parser.parse_punctuation("=")
            return [parser.parse_type()]


def _parameter(cls: type[ParametrizedAttribute]) -> str:
    return cls.get_irdl_definition().parameters[0][0]


@irdl_attr_definition
class WarpgroupDescriptorType(_Named, TypeAttribute):
    """`!nvgpu.warpgroup.descriptor<tensor = ..>`: a tile in shared memory."""

    name = "nvgpu.warpgroup.descriptor"
    tensor: MemRefType

    def __init__(self, tensor: MemRefType[Attribute]) -> None:
        super().__init__(tensor)


@irdl_attr_definition
class WarpgroupAccumulatorType(_Named, TypeAttribute):
    """`!nvgpu.warpgroup.accumulator<fragmented = ..>`: a tile over the registers of a warpgroup."""

    name = "nvgpu.warpgroup.accumulator"
    fragmented: VectorType

    def __init__(self, fragmented: VectorType[Attribute]) -> None:
        super().__init__(fragmented)


@irdl_op_definition
class GenerateDescriptorOp(IRDLOperation):
    """The descriptor of a tile that the boxes of a tensor map fill."""

    name = "nvgpu.warpgroup.generate.descriptor"
    tensor = operand_def(MemRefType)
    tensor_map = operand_def(TensorMapType)
    descriptor = result_def(WarpgroupDescriptorType)
    traits = traits_def(MemoryReadEffect())

    def __init__(self, tensor: Value, tensor_map: Value) -> None:
        type_ = cast("MemRefType[Attribute]", SSAValue.get(tensor).type)
        super().__init__(operands=[tensor, tensor_map], result_types=[WarpgroupDescriptorType(type_)])


@irdl_op_definition
class InitAccumulatorOp(IRDLOperation):
    """An accumulator of zeros."""

    name = "nvgpu.warpgroup.mma.init.accumulator"
    accumulator = result_def(WarpgroupAccumulatorType)
    traits = traits_def(Pure())

    def __init__(self, fragmented: VectorType[Attribute]) -> None:
        super().__init__(result_types=[WarpgroupAccumulatorType(fragmented)])


@irdl_op_definition
class WarpgroupMmaOp(IRDLOperation):
    """`acc + a @ b` of whole tiles: fence, products, commit, wait for all but `waitGroup` groups."""

    name = "nvgpu.warpgroup.mma"
    a = operand_def(WarpgroupDescriptorType)
    b = operand_def(WarpgroupDescriptorType)
    acc = operand_def(WarpgroupAccumulatorType)
    groups = opt_prop_def(IntegerAttr, prop_name="waitGroup")
    transpose_a = opt_prop_def(UnitAttr, prop_name="transposeA")
    transpose_b = opt_prop_def(UnitAttr, prop_name="transposeB")
    result = result_def(WarpgroupAccumulatorType)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, a: Value, b: Value, acc: Value, groups: int = 1, *, transpose_b: bool = False
    ) -> None:
        super().__init__(
            operands=[a, b, acc],
            result_types=[SSAValue.get(acc).type],
            properties={
                "waitGroup": IntegerAttr(groups, i64),
                "transposeB": UnitAttr() if transpose_b else None,
            },
        )

    def verify_(self) -> None:
        """The accumulator is a tile of the product's extents."""
        a, b = (cast(WarpgroupDescriptorType, v.type).tensor for v in (self.a, self.b))
        acc = cast(WarpgroupAccumulatorType, self.acc.type).fragmented
        rows, columns = (shape_of(a) or (0,))[0], (shape_of(b) or (0,))[-1]
        found = shape_of(acc)
        require(found == (rows, columns), f"acc: wanted {show((rows, columns))}, found {show(found)}")


@irdl_op_definition
class StoreAccumulatorOp(IRDLOperation):
    """Write an accumulator of f32 to memory."""

    name = "nvgpu.warpgroup.mma.store"
    accumulator = operand_def(WarpgroupAccumulatorType)
    target = operand_def(MemRefType)
    traits = traits_def(MemoryWriteEffect())

    def __init__(self, accumulator: Value, target: Value) -> None:
        super().__init__(operands=[accumulator, target])


WARPGROUP_OPS: list[type[Operation]] = [
    GenerateDescriptorOp,
    InitAccumulatorOp,
    WarpgroupMmaOp,
    StoreAccumulatorOp,
]
WARPGROUP_TYPES: list[type[Attribute]] = [WarpgroupDescriptorType, WarpgroupAccumulatorType]
