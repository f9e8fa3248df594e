"""Ops of the dialect `tile` that touch memory: boxes, elements, shared arrays, gathers, atomics.

Addresses name one index per axis of a tensor, an `index` that may lie outside it. `mask` holds one flag
per axis of the tensor: whether positions on it can lie outside and must be checked. The builder sets
all of them; a pass clears those that promises and constants prove inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    I1,
    I64,
    DenseArrayBase,
    IndexType,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    i1,
    i64,
)
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from phobos_nb.ir.dialects.address_space import WORKGROUP
from phobos_nb.ir.dialects.shapes import element_of, require, require_same_element, shape_of, show
from phobos_nb.ir.dialects.tile_types import GlobalType

Value = SSAValue | Operation
Flags = DenseArrayBase[I1]
Axes = DenseArrayBase[I64]


def flags(values: Sequence[bool]) -> Flags:
    """One flag per axis as an attribute."""
    return DenseArrayBase.from_list(i1, [int(v) for v in values])


def axes_attribute(values: Sequence[int]) -> Axes:
    """Axis numbers as an attribute."""
    return DenseArrayBase.from_list(i64, values)


def _rank(tensor: SSAValue) -> int:
    return cast(GlobalType, tensor.type).rank.data


def _verify_address(tensor: SSAValue, indices: Sequence[SSAValue], mask: Flags) -> None:
    rank = _rank(tensor)
    require(
        len(indices) == rank, f"wanted {rank} indices, one per axis of the tensor, found {len(indices)}"
    )
    found = len(mask.get_values())
    require(found == rank, f"mask: wanted {rank} flags, one per axis of the tensor, found {found}")


def _verify_box(tensor: SSAValue, tile: SSAValue, axes: Axes) -> None:
    """A box of a tensor and the tile it is read to or written from agree."""
    rank, sliced = _rank(tensor), list(axes.get_values())
    require(
        sliced == sorted(set(sliced)) and all(0 <= a < rank for a in sliced),
        f"axes: wanted ascending axes of a rank {rank} tensor, found {show(sliced)}",
    )
    shape = shape_of(tile.type) or ()
    require(
        len(shape) == len(sliced),
        f"wanted a tile of rank {len(sliced)}, the number of sliced axes, found shape {show(shape)}",
    )
    require_same_element("tile", element_of_global(tensor.type), tile.type)


def _verify_stops(stops: Sequence[SSAValue], stop_axes: Axes, axes: Axes) -> None:
    named = list(stop_axes.get_values())
    require(
        len(stops) == len(named), f"wanted {len(named)} stops, one per stop axis, found {len(stops)}"
    )
    extra = [a for a in named if a not in axes.get_values()]
    require(not extra, f"stop_axes: {show(extra)} are not among the sliced axes")


class _Masked(IRDLOperation):
    """What every op with a `mask` has."""

    mask = prop_def(Flags)

    @property
    def masked(self) -> tuple[bool, ...]:
        """Per axis of the tensor: whether positions may lie outside."""
        return tuple(bool(v) for v in self.mask.get_values())


class _Box(_Masked):
    """What `tile.load` and `tile.store` share: sliced axes and run-time ends."""

    axes = prop_def(Axes)
    stop_axes = prop_def(Axes)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())

    @property
    def sliced(self) -> tuple[int, ...]:
        """The axes of the tensor that became axes of the tile, in order; the others are points."""
        return tuple(self.axes.get_values())


@irdl_op_definition
class LoadOp(_Box):
    """Read a box of a tensor: the tile's element e is `source[indices + e on the sliced axes]`.

    Positions outside the tensor, or at or past a `stop` (a position on the axis `stop_axes` names),
    give `pad`, or zero without one.
    """

    name = "tile.load"
    source = operand_def(GlobalType)
    indices = var_operand_def(IndexType())
    pad = opt_operand_def()
    stops = var_operand_def(IndexType())
    result = result_def(TensorType)
    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$source `[` $indices `]` (`pad` $pad^ `:` type($pad))? (`stops` $stops^)? "
        "attr-dict `:` type($source) `->` type($result)"
    )

    def __init__(
        self,
        source: Value,
        indices: Sequence[Value],
        result: TensorType[Attribute],
        axes: Sequence[int],
        *,
        mask: Sequence[bool] | None = None,
        pad: Value | None = None,
        stops: Sequence[Value] = (),
        stop_axes: Sequence[int] = (),
    ) -> None:
        super().__init__(
            operands=[source, indices, pad, stops],
            result_types=[result],
            properties={
                "axes": axes_attribute(axes),
                "stop_axes": axes_attribute(stop_axes),
                "mask": flags([True] * len(indices) if mask is None else mask),
            },
        )

    def verify_(self) -> None:
        """Indices, mask, sliced axes, stops and pad agree with the tensor and the tile."""
        _verify_address(self.source, self.indices, self.mask)
        _verify_box(self.source, self.result, self.axes)
        _verify_stops(self.stops, self.stop_axes, self.axes)
        if self.pad is not None:
            require_same_element("pad", element_of_global(self.source.type), self.pad.type)


@irdl_op_definition
class StoreOp(_Box):
    """Write a tile to a box of a tensor; positions outside it or at or past a stop are skipped."""

    name = "tile.store"
    value = operand_def(TensorType)
    destination = operand_def(GlobalType)
    indices = var_operand_def(IndexType())
    stops = var_operand_def(IndexType())
    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$value `,` $destination `[` $indices `]` (`stops` $stops^)? "
        "attr-dict `:` type($value) `,` type($destination)"
    )

    def __init__(
        self,
        value: Value,
        destination: Value,
        indices: Sequence[Value],
        axes: Sequence[int],
        *,
        mask: Sequence[bool] | None = None,
        stops: Sequence[Value] = (),
        stop_axes: Sequence[int] = (),
    ) -> None:
        super().__init__(
            operands=[value, destination, indices, stops],
            properties={
                "axes": axes_attribute(axes),
                "stop_axes": axes_attribute(stop_axes),
                "mask": flags([True] * len(indices) if mask is None else mask),
            },
        )

    def verify_(self) -> None:
        """Indices, mask, sliced axes and stops agree with the tensor and the tile."""
        _verify_address(self.destination, self.indices, self.mask)
        _verify_box(self.destination, self.value, self.axes)
        _verify_stops(self.stops, self.stop_axes, self.axes)


@irdl_op_definition
class LoadElementOp(_Masked):
    """Read one element per thread; outside the tensor it is zero."""

    name = "tile.load_element"
    source = operand_def(GlobalType)
    indices = var_operand_def(IndexType())
    result = result_def()
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect())
    assembly_format = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($result)"

    def __init__(
        self, source: Value, indices: Sequence[Value], mask: Sequence[bool] | None = None
    ) -> None:
        super().__init__(
            operands=[source, indices],
            result_types=[element_of_global(SSAValue.get(source).type)],
            properties={"mask": flags([True] * len(indices) if mask is None else mask)},
        )

    def verify_(self) -> None:
        """Indices and mask agree with the tensor; the result is its element type."""
        _verify_address(self.source, self.indices, self.mask)
        require_same_element("result", element_of_global(self.source.type), self.result.type)


class _OneElement(IRDLOperation):
    """What stores of one element per thread share.

    `once`: all operands are the same in every thread, and the store happens once per CTA.
    """

    once = opt_prop_def(UnitAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$value `,` $destination `[` $indices `]` attr-dict `:` type($value) `,` type($destination)"
    )


def _once(once: bool) -> dict[str, Attribute | None]:
    return {"once": UnitAttr() if once else None}


@irdl_op_definition
class StoreElementOp(_OneElement, _Masked):
    """Write one element per active thread, skipped outside the tensor."""

    name = "tile.store_element"
    value = operand_def()
    destination = operand_def(GlobalType)
    indices = var_operand_def(IndexType())

    def __init__(
        self,
        value: Value,
        destination: Value,
        indices: Sequence[Value],
        *,
        once: bool = False,
        mask: Sequence[bool] | None = None,
    ) -> None:
        super().__init__(
            operands=[value, destination, indices],
            properties={
                **_once(once),
                "mask": flags([True] * len(indices) if mask is None else mask),
            },
        )

    def verify_(self) -> None:
        """Indices and mask agree with the tensor; the value is its element type."""
        _verify_address(self.destination, self.indices, self.mask)
        require_same_element("value", element_of_global(self.destination.type), self.value.type)


@irdl_op_definition
class AllocSharedOp(IRDLOperation):
    """Declare a shared array that the author manages, one per CTA; stands at the kernel's start."""

    name = "tile.alloc_shared"
    array = prop_def(StringAttr)
    result = result_def(MemRefType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$array attr-dict `:` type($result)"

    def __init__(self, array: str, result: MemRefType[Attribute]) -> None:
        super().__init__(properties={"array": StringAttr(array)}, result_types=[result])

    def verify_(self) -> None:
        """The array lies in the workgroup space."""
        space = self.result.type.memory_space
        require(space == WORKGROUP, f"{self.array.data}: wanted memory space {WORKGROUP}, found {space}")


def _verify_shared(array: SSAValue, indices: Sequence[SSAValue], value: Attribute) -> None:
    type_ = cast("MemRefType[Attribute]", array.type)
    rank = type_.get_num_dims()
    require(
        len(indices) == rank, f"wanted {rank} indices, one per axis of the array, found {len(indices)}"
    )
    require_same_element("value", type_, value)


@irdl_op_definition
class LoadSharedOp(IRDLOperation):
    """Read one element per thread of an author-managed shared array; no barrier is implied."""

    name = "tile.load_shared"
    source = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    result = result_def()
    traits = traits_def(MemoryReadEffect())
    assembly_format = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: Value, indices: Sequence[Value]) -> None:
        element = element_of(SSAValue.get(source).type)
        super().__init__(operands=[source, indices], result_types=[element])

    def verify_(self) -> None:
        """One index per axis; the result is the array's element type."""
        _verify_shared(self.source, self.indices, self.result.type)


@irdl_op_definition
class StoreSharedOp(_OneElement):
    """Write one element per active thread to an author-managed shared array."""

    name = "tile.store_shared"
    value = operand_def()
    destination = operand_def(MemRefType)
    indices = var_operand_def(IndexType())

    def __init__(
        self, value: Value, destination: Value, indices: Sequence[Value], *, once: bool = False
    ) -> None:
        super().__init__(operands=[value, destination, indices], properties=_once(once))

    def verify_(self) -> None:
        """One index per axis; the value is the array's element type."""
        _verify_shared(self.destination, self.indices, self.value.type)


@irdl_op_definition
class GatherOp(_Masked):
    """Read `table[index]` for every element of a tile of integer positions; outside it is zero."""

    name = "tile.gather"
    table = operand_def(GlobalType)
    positions = operand_def(TensorType)
    result = result_def(TensorType)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$table `[` $positions `]` attr-dict `:` type($table) `,` type($positions) `->` type($result)"
    )

    def __init__(self, table: Value, positions: Value, mask: Sequence[bool] | None = None) -> None:
        element = element_of_global(SSAValue.get(table).type)
        shape = shape_of(SSAValue.get(positions).type) or ()
        super().__init__(
            operands=[table, positions],
            result_types=[TensorType(element, shape)],
            properties={"mask": flags([True] if mask is None else mask)},
        )

    def verify_(self) -> None:
        """The table has one axis; the result has the positions' shape and the table's type."""
        require(_rank(self.table) == 1, f"table: wanted rank 1, found rank {_rank(self.table)}")
        require_same_element("result", element_of_global(self.table.type), self.result.type)
        wanted, found = shape_of(self.positions.type), shape_of(self.result.type)
        require(wanted == found, f"result: wanted shape {show(wanted)}, found {show(found)}")


@irdl_op_definition
class AtomicOp(_Masked):
    """Combine a value into memory atomically, skipped outside the tensor.

    A scalar value is combined once per active thread, and `result` is the element before; a tile is
    combined once per element, its first element at `indices`, its axes being the tensor's last ones,
    and has no result. `kind`: add, maximumf, minimumf, maxsi, minsi, maxui, minui.
    """

    name = "tile.atomic"
    value = operand_def()
    destination = operand_def(GlobalType)
    indices = var_operand_def(IndexType())
    kind = prop_def(CombiningKindAttr)
    result = opt_result_def()
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$kind $value `,` $destination `[` $indices `]` attr-dict "
        "`:` type($value) `,` type($destination) (`->` type($result)^)?"
    )

    def __init__(
        self,
        kind: CombiningKindFlag,
        value: Value,
        destination: Value,
        indices: Sequence[Value],
        mask: Sequence[bool] | None = None,
    ) -> None:
        type_ = SSAValue.get(value).type
        super().__init__(
            operands=[value, destination, indices],
            result_types=[None if isinstance(type_, TensorType) else type_],
            properties={
                "kind": CombiningKindAttr(kind),
                "mask": flags([True] * len(indices) if mask is None else mask),
            },
        )

    def verify_(self) -> None:
        """Address and types agree; only the scalar form has a result."""
        _verify_address(self.destination, self.indices, self.mask)
        element = element_of_global(self.destination.type)
        require_same_element("value", element, self.value.type)
        rank = len(shape_of(self.value.type) or ())
        limit = _rank(self.destination)
        require(rank <= limit, f"value: wanted a tile of rank {limit} at most, found rank {rank}")
        require(
            (self.result is None) == (rank > 0), "wanted a result for a scalar value and none for a tile"
        )


@irdl_op_definition
class AtomicCasOp(_Masked):
    """Store `value` where the element equals `compare`, per active thread; yields the element before.

    Outside the tensor nothing happens and the result is zero.
    """

    name = "tile.atomic_cas"
    compare = operand_def()
    value = operand_def()
    destination = operand_def(GlobalType)
    indices = var_operand_def(IndexType())
    result = result_def()
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$compare `,` $value `,` $destination `[` $indices `]` attr-dict "
        "`:` type($compare) `,` type($value) `,` type($destination) `->` type($result)"
    )

    def __init__(
        self,
        compare: Value,
        value: Value,
        destination: Value,
        indices: Sequence[Value],
        mask: Sequence[bool] | None = None,
    ) -> None:
        super().__init__(
            operands=[compare, value, destination, indices],
            result_types=[SSAValue.get(value).type],
            properties={"mask": flags([True] * len(indices) if mask is None else mask)},
        )

    def verify_(self) -> None:
        """Address and types agree."""
        _verify_address(self.destination, self.indices, self.mask)
        element = element_of_global(self.destination.type)
        for what, found in (("compare", self.compare), ("value", self.value), ("result", self.result)):
            require(found.type == element, f"{what}: wanted {element}, found {found.type}")


def element_of_global(type_: Attribute) -> Attribute:
    """The element type of a `!tile.global`."""
    return cast(GlobalType, type_).element_type
