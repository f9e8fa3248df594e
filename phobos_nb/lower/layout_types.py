"""Layouts as encodings of tile types: how the passes read and write them."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from phobos_nb.ir.dialects import tile_types
from phobos_nb.ir.dialects.tile_types import AxisLayout, LayoutAttr
from phobos_nb.lower.layouts import Axis, Digit, Layout

Tile = TensorType[Attribute]


def is_tile(value: SSAValue) -> bool:
    """Whether the value is distributed over the CTA."""
    return isinstance(value.type, TensorType)


def shape(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tile."""
    return cast(Tile, value.type).get_shape()


def element(value: SSAValue) -> Attribute:
    """The element type of a tile."""
    return cast(Tile, value.type).element_type


def byte_width(type_: Attribute) -> int:
    """Bytes of one element in memory; a bool takes one, an index eight."""
    return max(1, type_.bitwidth // 8) if isinstance(type_, FixedBitwidthType) else 8


@lru_cache(maxsize=4096)
def attribute(layout: Layout) -> LayoutAttr:
    """The layout as an MLIR attribute."""
    axes = [
        AxisLayout(
            tuple(tile_types.Digit(d.divisor, d.modulus, d.multiplier) for d in axis.digits),
            axis.offsets,
        )
        for axis in layout.axes
    ]
    return LayoutAttr(tuple(axes))


@lru_cache(maxsize=4096)
def _layout(attr: LayoutAttr, extents: tuple[int, ...], threads: int) -> Layout:
    axes = tuple(Axis(tuple(Digit(*d) for d in a.digits), a.slots) for a in attr.data)
    return Layout(extents, threads, axes)


def layout_of(value: SSAValue, threads: int) -> Layout:
    """The layout of a tile that has one."""
    encoding = cast(Tile, value.type).encoding
    assert isinstance(encoding, LayoutAttr), f"{value} has no layout"
    return _layout(encoding, shape(value), threads)


def tile_type(of: Attribute, layout: Layout) -> Tile:
    """The type of a tile of `of` elements under a layout."""
    return TensorType(of, layout.shape, attribute(layout))


def set_layout(value: SSAValue, layout: Layout) -> SSAValue:
    """Give a tile its layout; the value that stands in its place from here on."""
    assert shape(value) == layout.shape, (shape(value), layout.shape)
    return Rewriter.replace_value_with_new_type(value, tile_type(element(value), layout))
