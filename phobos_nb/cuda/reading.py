"""Typed reading of MLIR types and attributes, the same for every analysis and row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    DenseArrayBase,
    DictionaryAttr,
    FileLineColLoc,
    FusedLoc,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NameLoc,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue


def integer(attribute: Attribute | None, default: int = 0) -> int:
    """The number in an integer attribute; the default when there is none."""
    if isinstance(attribute, IntegerAttr):
        return cast("IntegerAttr[IntegerType]", attribute).value.data
    return default


def integers(attribute: Attribute | None) -> tuple[int, ...]:
    """The numbers of a dense array or an array of integer attributes."""
    if isinstance(attribute, DenseArrayBase):
        return tuple(int(x) for x in attribute.get_values())
    entries = cast("ArrayAttr[Attribute]", attribute).data if isinstance(attribute, ArrayAttr) else ()
    return tuple(integer(x) for x in entries)


def bounds(attribute: Attribute | None) -> Mapping[str, int]:
    """A dictionary attribute of integers as a plain mapping; empty when there is none."""
    if not isinstance(attribute, DictionaryAttr):
        return {}
    entries = cast("Mapping[str, Attribute]", attribute.data)
    return {name: integer(value) for name, value in entries.items()}


def text(attribute: Attribute | None, default: str = "") -> str:
    """The text of a string attribute; the default when there is none."""
    return attribute.data if isinstance(attribute, StringAttr) else default


def either(op: Operation, name: str) -> Attribute | None:
    """A property or discardable attribute of that name."""
    return op.properties.get(name) or op.attributes.get(name)


def width(type: Attribute, index_bits: int) -> int:
    """The bits of an integer type; those given for `index`."""
    if isinstance(type, IntegerType):
        return cast("IntegerType", type).width.data
    return index_bits


def element_type(type: Attribute) -> Attribute:
    """A vector's or memref's element type, the type itself otherwise."""
    if isinstance(type, VectorType | MemRefType):
        return cast("VectorType[Attribute]", type).element_type
    return type


def shape(type: Attribute) -> tuple[int, ...]:
    """A vector's or memref's shape; () for a scalar."""
    if isinstance(type, VectorType | MemRefType):
        return cast("VectorType[Attribute]", type).get_shape()
    return ()


def is_vector(value: SSAValue) -> bool:
    """Whether a value is a vector."""
    return isinstance(value.type, VectorType)


def is_memref(value: SSAValue) -> bool:
    """Whether a value is a memref."""
    return isinstance(value.type, MemRefType)


def static_strides(type: Attribute) -> tuple[int | None, ...]:
    """A memref's element strides as far as its type tells them."""
    memref = cast("MemRefType[Attribute]", type)
    if isinstance(memref.layout, NoneAttr):
        extents = [None if extent < 0 else extent for extent in memref.get_shape()]
        return _row_major(extents)
    strides = memref.get_strides()
    return tuple(strides) if strides is not None else (None,) * len(memref.get_shape())


def _row_major(extents: list[int | None]) -> tuple[int | None, ...]:
    strides: list[int | None] = []
    step: int | None = 1
    for extent in reversed(extents):
        strides.append(step)
        step = None if step is None or extent is None else step * extent
    return tuple(reversed(strides))


def origin(location: Attribute) -> FileLineColLoc | None:
    """The place in the text that a location names, through names, calls and fused locations."""
    if isinstance(location, FileLineColLoc):
        return location
    if isinstance(location, NameLoc):
        return origin(location.location)
    if isinstance(location, CallSiteLoc):
        return origin(location.callee)
    if isinstance(location, FusedLoc):
        parts = cast("ArrayAttr[Attribute]", location.locations).data
        return next((found for part in parts if (found := origin(part)) is not None), None)
    return None


def static_offset(type: Attribute) -> int | None:
    """A memref's element offset from its buffer as its type tells it; None when only run time does."""
    memref = cast("MemRefType[Attribute]", type)
    return 0 if isinstance(memref.layout, NoneAttr) else memref.get_offset()


def reference(attribute: Attribute) -> str:
    """The name in a symbol reference."""
    return cast(SymbolRefAttr, attribute).root_reference.data


def is_global(value: SSAValue) -> bool:
    """Whether a memref is in device memory, which is what no memory space means."""
    memref = cast("MemRefType[Attribute]", value.type)
    space = memref.memory_space
    return isinstance(space, NoneAttr) or str(getattr(space, "data", "")) == "global"
