"""Upstream's `nvvm.wgmma.*`: fence, commit, wait, and the product on bare registers.

`nvvm.wgmma.mma_async` takes and returns its accumulator as an LLVM struct of one field per register. It
is what `phobos.wgmma` becomes for upstream, see `ir/upstream_wgmma.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.llvm import LLVMStructType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.str_enum import StrEnum

from phobos_nb.ir.dialects.bracketed import Bracketed

Value = SSAValue | Operation


@irdl_op_definition
class WgmmaFenceAlignedOp(IRDLOperation):
    """`wgmma.fence.sync.aligned`: orders register accesses before wgmma with those of wgmma."""

    name = "nvvm.wgmma.fence.aligned"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class WgmmaCommitOp(IRDLOperation):
    """`wgmma.commit_group`: close the group of the products issued so far."""

    name = "nvvm.wgmma.commit.group.sync.aligned"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class WgmmaWaitGroupOp(IRDLOperation):
    """`wgmma.wait_group`: wait until at most `group` of the latest groups are in flight."""

    name = "nvvm.wgmma.wait.group.sync.aligned"
    group = prop_def(IntegerAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, group: int) -> None:
        super().__init__(properties={"group": IntegerAttr(group, i64)})


@irdl_attr_definition
class ShapeAttr(ParametrizedAttribute):
    """`#nvvm.shape<m = .., n = .., k = ..>`."""

    name = "nvvm.shape"
    m: IntegerAttr
    n: IntegerAttr
    k: IntegerAttr

    def __init__(self, m: int, n: int, k: int) -> None:
        super().__init__(*(IntegerAttr(x, i64) for x in (m, n, k)))

    def print_parameters(self, printer: Printer) -> None:
        """Print the three extents by name."""
        with printer.in_angle_brackets():
            parts = (f"{name} = {getattr(self, name).value.data}" for name in "mnk")
            printer.print_string(", ".join(parts))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parse the three extents by name."""

        def extent() -> Attribute:
            parser.parse_identifier()
            parser.parse_punctuation("=")
            return IntegerAttr(parser.parse_integer(), i64)

        with parser.in_angle_brackets():
            found = [extent()]
            for _ in range(2):
                parser.parse_punctuation(",")
                found.append(extent())
        return found


class WgmmaType(StrEnum):
    """Element types as `nvvm.wgmma.mma_async` names them."""

    F16 = "f16"
    BF16 = "bf16"
    TF32 = "tf32"
    S8 = "s8"
    U8 = "u8"
    F32 = "f32"
    S32 = "s32"


class ScaleIn(StrEnum):
    """Whether an operand is taken as it is or negated."""

    ONE = "one"
    NEG = "neg"


class ScaleOut(StrEnum):
    """Whether the accumulator is added or counts as zero."""

    ONE = "one"
    ZERO = "zero"


class Layout(StrEnum):
    """The direction of an operand: rows or columns."""

    ROW = "row"
    COL = "col"


@irdl_attr_definition
class WgmmaTypeAttr(Bracketed, EnumAttribute[WgmmaType]):
    """`#nvvm.wgmma_type<..>`."""

    name = "nvvm.wgmma_type"


@irdl_attr_definition
class ScaleInAttr(Bracketed, EnumAttribute[ScaleIn]):
    """`#nvvm.wgmma_scale_in<..>`."""

    name = "nvvm.wgmma_scale_in"


@irdl_attr_definition
class ScaleOutAttr(Bracketed, EnumAttribute[ScaleOut]):
    """`#nvvm.wgmma_scale_out<..>`."""

    name = "nvvm.wgmma_scale_out"


@irdl_attr_definition
class LayoutAttr(Bracketed, EnumAttribute[Layout]):
    """`#nvvm.mma_layout<..>`."""

    name = "nvvm.mma_layout"


@irdl_op_definition
class MmaAsyncOp(IRDLOperation):
    """`wgmma.mma_async` with both operands in shared memory, on a struct of registers."""

    name = "nvvm.wgmma.mma_async"
    inouts = operand_def(LLVMStructType)
    descriptor_a = operand_def(i64)
    descriptor_b = operand_def(i64)
    shape = prop_def(ShapeAttr)
    type_a = prop_def(WgmmaTypeAttr, prop_name="typeA")
    type_b = prop_def(WgmmaTypeAttr, prop_name="typeB")
    type_d = prop_def(WgmmaTypeAttr, prop_name="typeD")
    scale_d = prop_def(ScaleOutAttr, prop_name="scaleD")
    scale_a = prop_def(ScaleInAttr, prop_name="scaleA")
    scale_b = prop_def(ScaleInAttr, prop_name="scaleB")
    layout_a = prop_def(LayoutAttr, prop_name="layoutA")
    layout_b = prop_def(LayoutAttr, prop_name="layoutB")
    saturation = opt_prop_def(Attribute, prop_name="satfinite")
    result = result_def(LLVMStructType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        inouts: Value,
        descriptors: tuple[Value, Value],
        shape: ShapeAttr,
        types: tuple[WgmmaType, WgmmaType],
        *,
        scale_d: ScaleOut,
        scales: tuple[ScaleIn, ScaleIn],
        layouts: tuple[Layout, Layout],
    ) -> None:
        super().__init__(
            operands=[inouts, *descriptors],
            result_types=[SSAValue.get(inouts).type],
            properties={
                "shape": shape,
                "typeA": WgmmaTypeAttr(types[0]),
                "typeB": WgmmaTypeAttr(types[0]),
                "typeD": WgmmaTypeAttr(types[1]),
                "scaleD": ScaleOutAttr(scale_d),
                "scaleA": ScaleInAttr(scales[0]),
                "scaleB": ScaleInAttr(scales[1]),
                "layoutA": LayoutAttr(layouts[0]),
                "layoutB": LayoutAttr(layouts[1]),
            },
        )


NVVM_WGMMA_OPS: list[type[Operation]] = [
    WgmmaFenceAlignedOp,
    WgmmaCommitOp,
    WgmmaWaitGroupOp,
    MmaAsyncOp,
]
NVVM_WGMMA_ATTRIBUTES: list[type[Attribute]] = [
    ShapeAttr,
    WgmmaTypeAttr,
    ScaleInAttr,
    ScaleOutAttr,
    LayoutAttr,
]
