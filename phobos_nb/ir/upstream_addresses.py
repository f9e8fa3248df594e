"""Addresses of memref elements as upstream's pointers need them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import FixedBitwidthType, IndexType, MemRefType, i64
from xdsl.ir import Attribute, SSAValue

from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects.shapes import element_of


def byte_address(b: Builder, base: SSAValue, indices: Sequence[SSAValue]) -> SSAValue:
    """The address of an element of a statically shaped memref, as i64."""
    type_ = cast("MemRefType[Attribute]", base.type)
    strides = type_.get_strides() or ()
    place = b.constant(0, IndexType())
    for index, stride in zip(indices, strides, strict=True):
        if stride is None:
            raise NotImplementedError(f"an address in {type_} whose strides are not static")
        place = b.addi(place, b.muli(index, b.constant(stride, IndexType())))
    size = cast(FixedBitwidthType, element_of(type_)).bitwidth // 8
    start = b.value(memref.ExtractAlignedPointerAsIndexOp.get(base))
    return b.index_cast(b.addi(start, b.muli(place, b.constant(size, IndexType()))), i64)
