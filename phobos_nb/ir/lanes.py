"""Exchanges between the lanes of a warp, for every scalar type of the language.

`gpu.shuffle` moves 32 bits: narrower values travel as i32 or f32, 64-bit ones in two halves.
"""

from __future__ import annotations

from xdsl.dialects.builtin import f32, i32, i64
from xdsl.ir import SSAValue

from phobos_nb.dtypes import BOOL, F64, I32, I64, INDEX, DType
from phobos_nb.ir.builder import Builder
from phobos_nb.ir.convert import convert
from phobos_nb.ir.dialects.gpu import ShuffleMode, ShuffleOp
from phobos_nb.ir.elementwise import binary
from phobos_nb.ir.scalars import mlir_type

WARP = 32


def shuffle(
    builder: Builder, mode: ShuffleMode, value: SSAValue, dtype: DType, lane: SSAValue
) -> SSAValue:
    """The value of another lane; `lane` is an i32 from 0 to 31, by `mode` an offset, mask or number."""
    if dtype.is_float and dtype.bits == 16:
        return builder.truncf(_move(builder, mode, builder.extf(value, f32), lane), mlir_type(dtype))
    if dtype == F64:
        return builder.bitcast(_halves(builder, mode, builder.bitcast(value, i64), lane), value.type)
    if dtype in (I64, INDEX):
        wide = convert(builder, value, dtype, I64)
        return convert(builder, _halves(builder, mode, wide, lane), I64, dtype)
    if dtype.bits < 32:
        moved = _move(builder, mode, convert(builder, value, dtype, I32), lane)
        return builder.trunci(moved, value.type) if dtype != BOOL else convert(builder, moved, I32, BOOL)
    return _move(builder, mode, value, lane)


def _move(builder: Builder, mode: ShuffleMode, value: SSAValue, lane: SSAValue) -> SSAValue:
    return builder.insert(ShuffleOp(value, lane, builder.constant(WARP, i32), mode)).result


def _halves(builder: Builder, mode: ShuffleMode, value: SSAValue, lane: SSAValue) -> SSAValue:
    """A 64-bit integer as two shuffles of its low and high half."""
    shift = builder.constant(32, i64)
    low = _move(builder, mode, builder.trunci(value, i32), lane)
    high = _move(builder, mode, builder.trunci(builder.shrui(value, shift), i32), lane)
    return builder.ori(builder.extui(low, i64), builder.shli(builder.extui(high, i64), shift))


def lane_number(builder: Builder, value: SSAValue, dtype: DType) -> SSAValue:
    """An integer modulo 32 as an i32, the way PTX reads lane numbers."""
    return builder.andi(convert(builder, value, dtype, I32), builder.constant(WARP - 1, i32))


def shuffle_down(
    builder: Builder, value: SSAValue, dtype: DType, distance: SSAValue, distance_dtype: DType
) -> SSAValue:
    """The value of the lane `distance` above; a lane with none that far keeps its own."""
    number = convert(builder, distance, distance_dtype, I64)
    inside = builder.cmpi("ult", number, builder.constant(WARP, i64))
    lane = lane_number(builder, number, I64)
    return builder.select(inside, shuffle(builder, ShuffleMode.DOWN, value, dtype, lane), value)


def reduce_lanes(builder: Builder, op: str, value: SSAValue, dtype: DType) -> SSAValue:
    """Combine a value over the lanes of the warp, in a butterfly; every lane gets the result."""
    distance = WARP // 2
    while distance:
        other = shuffle(builder, ShuffleMode.XOR, value, dtype, builder.constant(distance, i32))
        value = binary(builder, op, dtype, value, other)
        distance //= 2
    return value
