"""Elementwise arithmetic of the language on scalars and tiles: from a dtype and an operator to MLIR ops.

Tiles are stretched to one shape first. f16 and bf16 sums, products and quotients are single ops, which
round once; functions of them go through f32 (LANGUAGE section 2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import math as xdsl_math
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import SSAValue

from phobos_nb.dtypes import BOOL, DType, Kind
from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.shapes import element_of, shape_of
from phobos_nb.ir.fold import constant_value

Binary = Callable[[Builder, SSAValue, SSAValue], SSAValue]

FLOAT_OPS: Mapping[str, Binary] = {
    "+": Builder.addf,
    "-": Builder.subf,
    "*": Builder.mulf,
    "/": Builder.divf,
    "max": Builder.maximumf,
    "min": Builder.minimumf,
}

SIGNED_OPS: Mapping[str, Binary] = {
    "+": Builder.addi,
    "-": Builder.subi,
    "*": Builder.muli,
    "/": Builder.divsi,
    "%": Builder.remsi,
    "&": Builder.andi,
    "|": Builder.ori,
    "^": Builder.xori,
    "<<": Builder.shli,
    ">>": Builder.shrsi,
    "max": Builder.maxsi,
    "min": Builder.minsi,
}

UNSIGNED_OPS: Mapping[str, Binary] = {
    **SIGNED_OPS,
    "/": Builder.divui,
    "%": Builder.remui,
    ">>": Builder.shrui,
    "max": Builder.maxui,
    "min": Builder.minui,
}

INTEGER_PREDICATES = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
FLOAT_PREDICATES = {"==": "oeq", "!=": "une", "<": "olt", "<=": "ole", ">": "ogt", ">=": "oge"}

MATH_OPS: Mapping[str, type[xdsl_math.FloatingPointLikeUnaryMathOperation]] = {
    "exp": xdsl_math.ExpOp,
    "exp2": xdsl_math.Exp2Op,
    "log": xdsl_math.LogOp,
    "log2": xdsl_math.Log2Op,
    "sqrt": xdsl_math.SqrtOp,
    "rsqrt": xdsl_math.RsqrtOp,
    "tanh": xdsl_math.TanhOp,
    "sin": xdsl_math.SinOp,
    "cos": xdsl_math.CosOp,
    "erf": xdsl_math.ErfOp,
    "round": xdsl_math.RoundEvenOp,
    "floor": xdsl_math.FloorOp,
    "ceil": xdsl_math.CeilOp,
}


def is_unsigned(dtype: DType) -> bool:
    """Whether integer ops on the dtype are the unsigned ones."""
    return dtype.kind in (Kind.UNSIGNED, Kind.BOOL)


# Shapes ----------------------------------------------------------------------------------------


def stretch(builder: Builder, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """A scalar or tile as a tile of `shape`; the value itself for an empty shape."""
    if not shape or shape_of(value.type) == tuple(shape):
        return value
    known = constant_value(value)
    if known is not None:
        return builder.constant(known, TensorType(element_of(value.type), shape))
    if shape_of(value.type) is None:
        return builder.value(tile.SplatOp(value, shape))
    if isinstance(value.owner, tile.SplatOp):
        return builder.value(tile.SplatOp(value.owner.source, shape))
    return builder.value(tile.BroadcastOp(value, shape))


def common_shape(values: Sequence[SSAValue]) -> tuple[int, ...]:
    """The shape that NumPy's rule stretches all values to; empty when all are scalars."""
    shapes = [shape_of(v.type) or () for v in values]
    rank = max(len(s) for s in shapes)
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    return tuple(max(axis) for axis in zip(*padded, strict=True))


def together(builder: Builder, values: Sequence[SSAValue]) -> list[SSAValue]:
    """All values stretched to their common shape."""
    shape = common_shape(values)
    return [stretch(builder, v, shape) for v in values]


# Operators -------------------------------------------------------------------------------------


def binary(builder: Builder, op: str, dtype: DType, left: SSAValue, right: SSAValue) -> SSAValue:
    """`left op right` for values of one dtype; op is an operator, `max` or `min`."""
    left, right = together(builder, (left, right))
    if not dtype.is_float:
        table = UNSIGNED_OPS if is_unsigned(dtype) else SIGNED_OPS
        return table[op](builder, left, right)
    if op == "%":
        return in_f32(builder, dtype, (left, right), builder.remf)
    return FLOAT_OPS[op](builder, left, right)


def compare(builder: Builder, op: str, dtype: DType, left: SSAValue, right: SSAValue) -> SSAValue:
    """`left op right` for values of one dtype, as i1 elements; a NaN is unequal to everything."""
    left, right = together(builder, (left, right))
    if dtype.is_float:
        return builder.cmpf(FLOAT_PREDICATES[op], left, right)
    predicate = INTEGER_PREDICATES[op]
    if predicate not in ("eq", "ne"):
        predicate = ("u" if is_unsigned(dtype) else "s") + predicate
    return builder.cmpi(predicate, left, right)


def negative(builder: Builder, dtype: DType, value: SSAValue) -> SSAValue:
    """`-value`."""
    if dtype.is_float:
        return builder.negf(value)
    return builder.subi(builder.constant(0, value.type), value)


def complement(builder: Builder, dtype: DType, value: SSAValue) -> SSAValue:
    """`!value` for bool, `~value` for integers."""
    return builder.xori(value, builder.constant(True if dtype == BOOL else -1, value.type))


# Functions -------------------------------------------------------------------------------------


def in_f32(
    builder: Builder,
    dtype: DType,
    values: Sequence[SSAValue],
    function: Callable[..., SSAValue],
) -> SSAValue:
    """`function(*values)`, for f16 and bf16 computed in f32 and rounded once."""
    if not (dtype.is_float and dtype.bits == 16):
        return function(*values)
    result = function(*(builder.extf(v, f32) for v in values))
    return builder.truncf(result, element_of(values[0].type))


def math(builder: Builder, name: str, dtype: DType, value: SSAValue) -> SSAValue:
    """A function of the dialect `math` by the language's name, see `MATH_OPS`."""

    def computed(x: SSAValue) -> SSAValue:
        return builder.value(MATH_OPS[name](x))

    return in_f32(builder, dtype, [value], computed)


def power(builder: Builder, dtype: DType, base: SSAValue, exponent: SSAValue) -> SSAValue:
    """`base ** exponent`."""

    def computed(x: SSAValue, y: SSAValue) -> SSAValue:
        return builder.value(xdsl_math.PowFOp(x, y))

    return in_f32(builder, dtype, together(builder, (base, exponent)), computed)


def fused(builder: Builder, dtype: DType, values: Sequence[SSAValue]) -> SSAValue:
    """`a * b + c` rounded once (f16 and bf16: once in f32 and once to the type)."""
    return in_f32(builder, dtype, together(builder, values), builder.fma)


def sigmoid(builder: Builder, dtype: DType, value: SSAValue) -> SSAValue:
    """`1 / (1 + exp(-x))`."""

    def logistic(x: SSAValue) -> SSAValue:
        one = builder.constant(1.0, x.type)
        return builder.divf(one, builder.addf(one, builder.value(xdsl_math.ExpOp(builder.negf(x)))))

    return in_f32(builder, dtype, [value], logistic)


def magnitude(builder: Builder, dtype: DType, value: SSAValue) -> SSAValue:
    """`abs(value)`; the most negative integer wraps to itself."""
    if dtype.is_float:
        return builder.value(xdsl_math.AbsFOp(value))
    if is_unsigned(dtype):
        return value
    return builder.maxsi(value, negative(builder, dtype, value))


def choose(builder: Builder, condition: SSAValue, chosen: SSAValue, other: SSAValue) -> SSAValue:
    """`condition ? chosen : other`, elementwise; a scalar condition chooses between whole tiles."""
    chosen, other = together(builder, (chosen, other))
    if shape_of(condition.type) is not None:
        condition, chosen, other = together(builder, (condition, chosen, other))
    return builder.select(condition, chosen, other)
