"""Conversions between the language's scalar types, elementwise, by LANGUAGE section 2.

Float to float rounds once to nearest even. Float to integer truncates, saturates, and NaN gives 0.
Integers keep their low bits. To bool is `!= 0`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import f32, i32, i64
from xdsl.ir import SSAValue

from phobos_nb.dtypes import BF16, BOOL, F16, F32, F64, I32, I64, INDEX, DType, Kind
from phobos_nb.ir.builder import Builder
from phobos_nb.ir.elementwise import is_unsigned
from phobos_nb.ir.scalars import mlir_type

MANTISSA = {F32: 24, F64: 53}
"""Bits of the significand, the hidden one included (IEEE 754-2019, table 3.5)."""


def convert(builder: Builder, value: SSAValue, source: DType, target: DType) -> SSAValue:
    """A scalar or tile of dtype `source` as `target`."""
    if source == target:
        return value
    if target == BOOL:
        return _to_bool(builder, value, source)
    if source.is_float:
        if target.is_float:
            return _float_to_float(builder, value, source, target)
        return _float_to_integer(builder, value, source, target)
    if target.is_float:
        return _integer_to_float(builder, value, source, target)
    return _integer_to_integer(builder, value, source, target)


def to_index(builder: Builder, value: SSAValue, source: DType) -> SSAValue:
    """An integer as an index."""
    return convert(builder, value, source, INDEX)


def _to_bool(builder: Builder, value: SSAValue, source: DType) -> SSAValue:
    zero = builder.constant(0, value.type)
    return builder.cmpf("une", value, zero) if source.is_float else builder.cmpi("ne", value, zero)


def _float_to_float(builder: Builder, value: SSAValue, source: DType, target: DType) -> SSAValue:
    if {source, target} == {F16, BF16}:
        value, source = builder.extf(value, f32), F32
    if source.bits < target.bits:
        return builder.extf(value, mlir_type(target))
    return builder.truncf(value, mlir_type(target))


def _integer_to_float(builder: Builder, value: SSAValue, source: DType, target: DType) -> SSAValue:
    if source == INDEX:
        value = builder.index_cast(value, i64)
    if is_unsigned(source):
        return builder.uitofp(value, mlir_type(target))
    return builder.sitofp(value, mlir_type(target))


def _integer_to_integer(builder: Builder, value: SSAValue, source: DType, target: DType) -> SSAValue:
    type_ = mlir_type(target)
    if INDEX in (source, target):
        unsigned = is_unsigned(source)
        return builder.index_castui(value, type_) if unsigned else builder.index_cast(value, type_)
    if source.bits == target.bits:
        return value
    if source.bits > target.bits:
        return builder.trunci(value, type_)
    return builder.extui(value, type_) if is_unsigned(source) else builder.extsi(value, type_)


def _float_to_integer(builder: Builder, value: SSAValue, source: DType, target: DType) -> SSAValue:
    """Clamp to what is convertible, convert to i32 or i64, and put in the largest value above it."""
    if source.bits == 16:
        value, source = builder.extf(value, f32), F32
    wide = I32 if target.bits <= 32 else I64
    low, high = _limits(target)
    whole = builder.select(builder.cmpf("uno", value, value), builder.constant(0.0, value.type), value)
    largest = _below(high, MANTISSA[source])
    clamped = builder.minimumf(whole, builder.constant(float(largest), value.type))
    clamped = builder.maximumf(clamped, builder.constant(float(low), value.type))
    number = builder.fptosi(clamped, i32 if wide is I32 else i64)
    if largest != high:
        above = builder.cmpf("oge", whole, builder.constant(float(high + 1), value.type))
        number = builder.select(above, builder.constant(high, number.type), number)
    return convert(builder, number, wide, target)


def _limits(target: DType) -> tuple[int, int]:
    if target.kind is Kind.UNSIGNED:
        return 0, (1 << target.bits) - 1
    return -(1 << (target.bits - 1)), (1 << (target.bits - 1)) - 1


def _below(value: int, mantissa: int) -> int:
    """The largest number up to `value` that a significand of that many bits holds."""
    extra = max(0, value.bit_length() - mantissa)
    return value >> extra << extra
