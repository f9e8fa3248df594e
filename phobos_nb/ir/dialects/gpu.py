"""The dialect `gpu`: what xDSL has, with kernels as upstream marks them and the ops it lacks."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects import gpu as xdsl_gpu
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IndexType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
    i1,
    i8,
    i32,
)
from xdsl.dialects.gpu import DimensionAttr as DimensionAttr
from xdsl.dialects.gpu import DimensionEnum as DimensionEnum
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    attr_def,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    MemoryWriteEffect,
    Pure,
    SymbolOpInterface,
)
from xdsl.utils.str_enum import StrEnum

from phobos_nb.ir.dialects.address_space import WORKGROUP, AddressSpaceAttr
from phobos_nb.ir.dialects.shapes import require
from phobos_nb.ir.dialects.subgroup_mma import SUBGROUP_MMA_OPS, MatrixType

Value = SSAValue | Operation

REASON = "phobos.reason"
"""Attribute of a barrier, of the CTA or of a warp: the sentence that says why it is there."""


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A function of a `gpu.module`; a kernel has the discardable attribute `gpu.kernel`.

    xDSL's own op marks kernels with a property that upstream silently drops.
    """

    name = "gpu.func"
    body = region_def()
    sym_name = attr_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    traits = traits_def(IsolatedFromAbove(), HasParent(xdsl_gpu.ModuleOp), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        arguments: Sequence[Attribute],
        attributes: Mapping[str, Attribute] | None = None,
    ) -> None:
        """Make an empty kernel with an entry block; `attributes` are discardable ones."""
        super().__init__(
            properties={"function_type": FunctionType.from_lists(arguments, [])},
            attributes={"sym_name": StringAttr(name), "gpu.kernel": UnitAttr(), **(attributes or {})},
            regions=[Region(Block(arg_types=arguments))],
        )

    @property
    def is_kernel(self) -> bool:
        """Whether it is launched from the host."""
        return "gpu.kernel" in self.attributes

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        """Parse `@name(%a: type, ...) kernel attributes {...} {...}`."""
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        kernel = parser.parse_optional_keyword("kernel") is not None
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(name.data, [a.type for a in arguments], attributes.data if attributes else None)
        if not kernel:
            del op.attributes["gpu.kernel"]
        op.detach_region(0)
        op.add_region(parser.parse_region(arguments))
        return op

    def print(self, printer: Printer) -> None:
        """Print `@name(%a: type, ...) kernel attributes {...} {...}`."""
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.body.blocks[0].args, printer.print_block_argument)
        if self.is_kernel:
            printer.print_string(" kernel")
        hidden = ("sym_name", "gpu.kernel")
        printer.print_op_attributes(self.attributes, reserved_attr_names=hidden, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    def verify_(self) -> None:
        """The entry block has the function's arguments; a kernel returns nothing."""
        wanted = self.function_type.inputs.data
        found = self.body.blocks[0].arg_types
        require(wanted == tuple(found), f"entry block: wanted arguments {wanted}, found {found}")
        require(not (self.is_kernel and self.function_type.outputs.data), "a kernel returns nothing")


@irdl_op_definition
class ModuleOp(xdsl_gpu.ModuleOp):
    """What is compiled for the GPU as one unit."""

    name = "gpu.module"
    body = region_def("single_block")
    sym_name = prop_def(SymbolNameConstraint())
    assembly_format = "$sym_name attr-dict-with-keyword $body"


@irdl_op_definition
class BarrierOp(xdsl_gpu.BarrierOp):
    """Wait for all threads of the CTA; orders their accesses to shared and global memory."""

    name = "gpu.barrier"
    assembly_format = "attr-dict"


@irdl_op_definition
class ThreadIdOp(xdsl_gpu.ThreadIdOp):
    """The thread's number in its CTA along an axis."""

    name = "gpu.thread_id"
    dimension = prop_def(DimensionAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())
    assembly_format = "$dimension attr-dict"


@irdl_op_definition
class BlockIdOp(xdsl_gpu.BlockIdOp):
    """The CTA's number in the grid along an axis."""

    name = "gpu.block_id"
    dimension = prop_def(DimensionAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())
    assembly_format = "$dimension attr-dict"


@irdl_op_definition
class GridDimOp(xdsl_gpu.GridDimOp):
    """How many CTAs the grid has along an axis."""

    name = "gpu.grid_dim"
    dimension = prop_def(DimensionAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())
    assembly_format = "$dimension attr-dict"


class _ClusterAxisOp(IRDLOperation, ABC):
    """A number of the launch's clusters along an axis."""

    dimension = prop_def(DimensionAttr)
    result = result_def(IndexType())
    traits = traits_def(Pure())
    assembly_format = "$dimension attr-dict"

    def __init__(self, dimension: DimensionEnum) -> None:
        super().__init__(result_types=[IndexType()], properties={"dimension": DimensionAttr(dimension)})


@irdl_op_definition
class ClusterIdOp(_ClusterAxisOp):
    """The number of the CTA's cluster in the grid along an axis."""

    name = "gpu.cluster_id"


@irdl_op_definition
class ClusterDimOp(_ClusterAxisOp):
    """How many clusters the grid has along an axis."""

    name = "gpu.cluster_dim"


@irdl_op_definition
class ClusterBlockIdOp(_ClusterAxisOp):
    """The CTA's number in its cluster along an axis."""

    name = "gpu.cluster_block_id"


@irdl_op_definition
class ClusterDimBlocksOp(_ClusterAxisOp):
    """How many CTAs a cluster has along an axis."""

    name = "gpu.cluster_dim_blocks"


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The end of a `gpu.func`."""

    name = "gpu.return"
    traits = traits_def(IsTerminator(), HasParent(FuncOp))
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


class ShuffleMode(StrEnum):
    """Which lane a shuffle reads: lane ^ offset, lane - offset, lane + offset, or offset itself."""

    XOR = "xor"
    UP = "up"
    DOWN = "down"
    IDX = "idx"


@irdl_attr_definition
class ShuffleModeAttr(EnumAttribute[ShuffleMode], SpacedOpaqueSyntaxAttribute):
    """`#gpu<shuffle_mode xor>`."""

    name = "gpu.shuffle_mode"


@irdl_op_definition
class ShuffleOp(IRDLOperation):
    """Read `value` of another lane among groups of `width` lanes; the i1 says whether that lane exists.

    Where it does not, the value is the lane's own.
    """

    T: ClassVar = VarConstraint("T", AnyAttr())

    name = "gpu.shuffle"
    value = operand_def(T)
    offset = operand_def(i32)
    width = operand_def(i32)
    mode = prop_def(ShuffleModeAttr)
    result = result_def(T)
    valid = result_def(i1)
    assembly_format = "$mode $value `,` $offset `,` $width attr-dict `:` type($value)"

    def __init__(self, value: Value, offset: Value, width: Value, mode: ShuffleMode) -> None:
        super().__init__(
            operands=[value, offset, width],
            result_types=[SSAValue.get(value).type, i1],
            properties={"mode": ShuffleModeAttr(mode)},
        )


@irdl_op_definition
class DynamicSharedMemoryOp(IRDLOperation):
    """The bytes of shared memory whose number is given at launch."""

    name = "gpu.dynamic_shared_memory"
    result = result_def(MemRefType)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self) -> None:
        super().__init__(result_types=[MemRefType(i8, [DYNAMIC_INDEX], memory_space=WORKGROUP)])


@irdl_op_definition
class PrintfOp(IRDLOperation):
    """`printf` from the device; `format` as in C."""

    name = "gpu.printf"
    format = prop_def(StringAttr)
    arguments = var_operand_def()
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$format (`,` $arguments^ `:` type($arguments))? attr-dict"

    def __init__(self, format: str, arguments: Sequence[Value]) -> None:
        super().__init__(operands=[arguments], properties={"format": StringAttr(format)})


_OWN: list[type[Operation]] = [
    ModuleOp,
    FuncOp,
    BarrierOp,
    ThreadIdOp,
    BlockIdOp,
    GridDimOp,
    ClusterIdOp,
    ClusterDimOp,
    ClusterBlockIdOp,
    ClusterDimBlocksOp,
    ReturnOp,
    ShuffleOp,
    DynamicSharedMemoryOp,
    PrintfOp,
]

Gpu = Dialect(
    "gpu",
    [
        *(op for op in xdsl_gpu.GPU.operations if op.name not in {own.name for own in _OWN}),
        *_OWN,
        *SUBGROUP_MMA_OPS,
    ],
    [*xdsl_gpu.GPU.attributes, AddressSpaceAttr, ShuffleModeAttr, MatrixType],
)
