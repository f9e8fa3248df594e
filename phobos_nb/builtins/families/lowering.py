"""The tile MLIR of built-ins: functions that make a `build` for each family.

A build gets the folding builder, the typed call and one SSA value per argument (a `!tile.global` for a
tensor), inserts operations and returns the result, or None for an effect. xDSL is imported when a kernel
is lowered, not before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from phobos_nb.builtins.families.operands import dtype_of, shape_of
from phobos_nb.dtypes import DType
from phobos_nb.language.typed import Call, Expr

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder

Build = Callable[[Any, Call, Any], Any]


def argument(call: Call, position: int) -> Expr:
    """The expression given as an argument; the checker has seen to it that it is one."""
    found = call.arguments[position]
    assert isinstance(found, Expr)
    return found


def argument_dtype(call: Call, position: int = 0) -> DType:
    """The dtype of an argument."""
    return dtype_of(argument(call, position))


def math(name: str) -> Build:
    """A float function of one operand that the dialect `math` has."""

    def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
        from phobos_nb.ir import elementwise

        return elementwise.math(builder, name, dtype_of(call), values[0])

    return build


def selection(op: str) -> Build:
    """`max` or `min` of two operands."""

    def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
        from phobos_nb.ir import elementwise

        return elementwise.binary(builder, op, dtype_of(call), values[0], values[1])

    return build


def reduction(op: str) -> Build:
    """add, max or min along the call's axis, in the result's dtype."""

    def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
        from phobos_nb.ir.combine import combining_kind
        from phobos_nb.ir.convert import convert
        from phobos_nb.ir.dialects.tile import ReduceOp

        dtype = dtype_of(call)
        tile = convert(builder, values[0], argument_dtype(call), dtype)
        axis = int(call.attributes["axis"])
        return builder.value(ReduceOp(combining_kind(op, dtype), tile, axis))

    return build


def over_lanes(op: str) -> Build:
    """add, max or min over the lanes of a warp, in the result's dtype."""

    def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
        from phobos_nb.ir.convert import convert
        from phobos_nb.ir.lanes import reduce_lanes

        dtype = dtype_of(call)
        value = convert(builder, values[0], argument_dtype(call), dtype)
        return reduce_lanes(builder, {"add": "+"}.get(op, op), value, dtype)

    return build


def over_block(op: str) -> Build:
    """add, max or min over the threads of the CTA, in the result's dtype."""

    def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
        from phobos_nb.ir.combine import combining_kind
        from phobos_nb.ir.convert import convert
        from phobos_nb.ir.dialects.tile import BlockReduceOp

        dtype = dtype_of(call)
        value = convert(builder, values[0], argument_dtype(call), dtype)
        return builder.value(BlockReduceOp(combining_kind(op, dtype), value))

    return build


def exchange(mode: str) -> Build:
    """A shuffle whose second argument is a lane (`idx`) or a mask (`xor`), taken modulo 32."""

    def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
        from phobos_nb.ir.dialects.gpu import ShuffleMode
        from phobos_nb.ir.lanes import lane_number, shuffle

        lane = lane_number(builder, values[1], argument_dtype(call, 1))
        return shuffle(builder, ShuffleMode(mode), values[0], dtype_of(call), lane)

    return build


def indices(builder: Builder, call: Call, values: Sequence[SSAValue], count: int) -> list[SSAValue]:
    """The arguments 1 to `count` as indices."""
    from phobos_nb.ir.convert import to_index

    return [to_index(builder, values[k], argument_dtype(call, k)) for k in range(1, count + 1)]


def atomic(op: str) -> Build:
    """add, max or min into a tensor: scalar or tile."""

    def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue | None:
        from phobos_nb.ir.combine import combining_kind
        from phobos_nb.ir.dialects.tile import AtomicOp

        amount = argument(call, len(values) - 1)
        where = indices(builder, call, values, len(values) - 2)
        kind = combining_kind(op, dtype_of(amount))
        made = builder.insert(AtomicOp(kind, values[-1], values[0], where))
        return None if shape_of(amount) else made.result

    return build


def dot(*, transposed: bool) -> Build:
    """`dot` or `dot_t` onto zeros; the kernel builder puts in an accumulator that is added."""

    def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
        from phobos_nb.ir.matrix import product

        dtypes = argument_dtype(call, 0), argument_dtype(call, 1)
        return product(builder, values[0], values[1], dtypes, dtype_of(call), transposed=transposed)

    return build


def triangle(*, lower: bool) -> Build:
    """The elements on one side of a diagonal, zero elsewhere."""

    def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
        from phobos_nb.ir.dialects.tile import CoordinateOp

        shape = shape_of(call)
        row, column = (builder.value(CoordinateOp(axis, shape)) for axis in (0, 1))
        offset = builder.constant(int(call.attributes["diagonal"]), row.type)
        kept = builder.cmpi("sle" if lower else "sge", column, builder.addi(row, offset))
        return builder.select(kept, values[0], builder.constant(0, values[0].type))

    return build
