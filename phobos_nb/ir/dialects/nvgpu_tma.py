"""The part of the dialect `nvgpu` about bulk copies of boxes of tensors, which tensor maps describe.

A box has the shape of the tensor in its descriptor's type, outermost axis first; coordinates stand
innermost axis first, as in PTX.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IndexType, MemRefType, StringAttr, UnrankedMemRefType, i1, i16
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from phobos_nb.ir.dialects.nvgpu_mbarrier import MBarrierGroupType
from phobos_nb.ir.dialects.shapes import element_of, require, shape_of, show

Value = SSAValue | Operation


@irdl_attr_definition
class TensorMapType(ParametrizedAttribute, TypeAttribute):
    """`!nvgpu.tensormap.descriptor<...>`: how bulk copies address a tensor and write its boxes."""

    name = "nvgpu.tensormap.descriptor"
    tensor: Attribute
    swizzle: StringAttr
    l2promo: StringAttr
    oob: StringAttr
    interleave: StringAttr

    def __init__(
        self, tensor: Attribute, swizzle: str = "swizzle_128b", l2promo: str = "l2promo_128b"
    ) -> None:
        super().__init__(tensor, *(StringAttr(s) for s in (swizzle, l2promo, "zero", "none")))

    @property
    def box(self) -> tuple[int, ...]:
        """The extents of a box."""
        return shape_of(self.tensor) or ()

    @property
    def swizzle_bytes(self) -> int:
        """The bytes over which 16-byte pieces are exchanged, 0 for none."""
        return SWIZZLES[self.swizzle.data]

    def print_parameters(self, printer: Printer) -> None:
        """Print the fields as upstream names them."""
        with printer.in_angle_brackets():
            printer.print_string("tensor = ")
            printer.print_attribute(self.tensor)
            for name in ("swizzle", "l2promo", "oob", "interleave"):
                printer.print_string(f", {name} = {cast(StringAttr, getattr(self, name)).data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parse the fields in upstream's order."""
        with parser.in_angle_brackets():
            parser.parse_keyword("tensor")
            parser.parse_punctuation("=")
            values: list[Attribute] = [parser.parse_type()]
            for name in ("swizzle", "l2promo", "oob", "interleave"):
                parser.parse_punctuation(",")
                parser.parse_keyword(name)
                parser.parse_punctuation("=")
                values.append(StringAttr(parser.parse_identifier()))
        return values


SWIZZLES = {"none": 0, "swizzle_32b": 32, "swizzle_64b": 64, "swizzle_128b": 128}
"""Upstream's names of the swizzles, and their bytes."""
MOST_AXES, LONGEST_BOX = 5, 256
"""CUDA driver API, cuTensorMapEncodeTiled: axes of a tensor map, elements of a box along one."""


def _require_box(what: str, memref: SSAValue, map_: SSAValue, coordinates: Sequence[SSAValue]) -> None:
    type_ = cast(TensorMapType, map_.type)
    found = shape_of(memref.type)
    require(found == type_.box, f"{what}: wanted the box {show(type_.box)}, found {show(found)}")
    same = element_of(memref.type) == element_of(type_.tensor)
    require(
        same, f"{what}: wanted elements of {element_of(type_.tensor)}, found {element_of(memref.type)}"
    )
    rank = len(type_.box)
    require(1 <= rank <= MOST_AXES, f"box: wanted 1 to {MOST_AXES} axes, found {rank}")
    require(len(coordinates) == rank, f"wanted {rank} coordinates, found {len(coordinates)}")
    require(
        max(type_.box) <= LONGEST_BOX, f"box: wanted extents up to {LONGEST_BOX}, found {show(found)}"
    )


@irdl_op_definition
class TmaAsyncLoadOp(IRDLOperation):
    """Start a bulk copy of a box of a tensor to shared memory; barrier `index` counts its bytes.

    With a mask, every CTA of the cluster whose bit is set gets the box at the same place, and its own
    barrier of that index counts the bytes. What lies outside the tensor arrives as zeros.
    """

    name = "nvgpu.tma.async.load"
    dst = operand_def(MemRefType)
    barriers = operand_def(MBarrierGroupType)
    descriptor = operand_def(TensorMapType)
    coordinates = var_operand_def(IndexType())
    index = operand_def(IndexType())
    multicast_mask = opt_operand_def(i16)
    predicate = opt_operand_def(i1)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        dst: Value,
        barriers: Value,
        descriptor: Value,
        coordinates: Sequence[Value],
        index: Value,
        predicate: Value | None = None,
        multicast_mask: Value | None = None,
    ) -> None:
        super().__init__(
            operands=[dst, barriers, descriptor, coordinates, index, multicast_mask, predicate]
        )

    def verify_(self) -> None:
        """The box fits the target, one coordinate per axis."""
        _require_box("target", self.dst, self.descriptor, self.coordinates)


@irdl_op_definition
class TmaAsyncStoreOp(IRDLOperation):
    """Start a bulk copy of a box from shared memory to a tensor; what lies outside it is not written.

    It belongs to the thread's open group of bulk copies.
    """

    name = "nvgpu.tma.async.store"
    src = operand_def(MemRefType)
    descriptor = operand_def(TensorMapType)
    coordinates = var_operand_def(IndexType())
    predicate = opt_operand_def(i1)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        src: Value,
        descriptor: Value,
        coordinates: Sequence[Value],
        predicate: Value | None = None,
    ) -> None:
        super().__init__(operands=[src, descriptor, coordinates, predicate])

    def verify_(self) -> None:
        """The box fits the source, one coordinate per axis."""
        _require_box("source", self.src, self.descriptor, self.coordinates)


@irdl_op_definition
class TmaPrefetchOp(IRDLOperation):
    """Bring a tensor map into the cache that the copy engine reads it from."""

    name = "nvgpu.tma.prefetch.descriptor"
    descriptor = operand_def(TensorMapType)
    predicate = opt_operand_def(i1)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, descriptor: Value, predicate: Value | None = None) -> None:
        super().__init__(operands=[descriptor, predicate])


@irdl_op_definition
class TmaCreateDescriptorOp(IRDLOperation):
    """On the host: encode the tensor map of a tensor and a box."""

    name = "nvgpu.tma.create.descriptor"
    tensor = operand_def(UnrankedMemRefType)
    box = var_operand_def(IndexType())
    descriptor = result_def(TensorMapType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, tensor: Value, box: Sequence[Value], descriptor: TensorMapType) -> None:
        super().__init__(operands=[tensor, box], result_types=[descriptor])


TMA_OPS: list[type[Operation]] = [
    TmaAsyncLoadOp,
    TmaAsyncStoreOp,
    TmaPrefetchOp,
    TmaCreateDescriptorOp,
]
