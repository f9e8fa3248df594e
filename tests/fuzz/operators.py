"""Expressions made by operators and conversions."""

from __future__ import annotations

from dataclasses import replace

from tests.fuzz import rules
from tests.fuzz.context import Context, shapes_onto
from tests.fuzz.draw import Want, draw, option
from tests.fuzz.leaves import number
from tests.fuzz.values import BITS, DTYPES, FLOATS, INTEGERS, LANE, Shape, Unfit, Value, stretch

NUMBERS = (*FLOATS, *INTEGERS)
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def pair_of_shapes(ctx: Context, shape: Shape) -> tuple[Shape, Shape]:
    """Two shapes that stretch to `shape` together."""
    options = shapes_onto(shape)
    for _ in range(8):
        first, second = ctx.pick(options), ctx.pick(options)
        if stretch(first, second) == shape:
            if first != second:
                ctx.mark("stretch")
            return (first, second)
    return shape, shape


def operands(ctx: Context, want: Want, left: str, right: str) -> tuple[Value, Value]:
    """Two parts that stretch to the wanted shape."""
    first, second = pair_of_shapes(ctx, want.shape)
    return draw(ctx, want.smaller(left, first)), draw(ctx, want.smaller(right, second))


def divisor(ctx: Context, value: Value) -> Value:
    """A divisor made safe: away from zero, positive for integers."""
    if value.dtype in FLOATS:
        wide = rules.absolute(value)
        one = Value("0.5", value.dtype, low=0.5, high=0.5, grain=0.5)
        return replace(rules.binary("+", wide, one, value.dtype), atom=False)
    seven = Value("7", value.dtype, low=7, high=7, grain=1)
    one = Value("1", value.dtype, low=1, high=1, grain=1)
    masked = rules.binary("&", value, seven, value.dtype)
    if value.dtype != "u8" and ctx.chance(0.3):
        low = Value("(-9)", value.dtype, low=-9, high=-9, grain=1)
        return rules.binary("+", masked, low, value.dtype)
    return rules.binary("+", masked, one, value.dtype)


def amount(value: Value) -> Value:
    """A shift's amount made safe."""
    most = Value("7", value.dtype, low=7, high=7, grain=1)
    return rules.binary("&", value, most, value.dtype)


@option(6, lambda want: want.is_number)
def arithmetic(ctx: Context, want: Want) -> Value:
    """An operator on two expressions of the wanted type."""
    op = ctx.pick("+-*/%" if want.is_float else ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"])
    left, right = operands(ctx, want, want.dtype, want.dtype)
    return applied(ctx, op, left, right, want.dtype)


def applied(ctx: Context, op: str, left: Value, right: Value, dtype: str) -> Value:
    """The operator, its right side made safe where it must be."""
    if op in "/%":
        right = divisor(ctx, right)
    if op in ("<<", ">>"):
        right = amount(right)
    ctx.mark(f"operator:{op}:{'float' if dtype in FLOATS else 'integer'}")
    return rules.binary(op, left, right, dtype)


@option(3, lambda want: want.is_number)
def with_number(ctx: Context, want: Want) -> Value:
    """An operator with a bare number, which adapts to the other side."""
    op = ctx.pick("+-*" if want.is_float else ["+", "-", "*", "&", "|", "^"])
    value, other = draw(ctx, want.smaller()), number(ctx, want.dtype)
    if value.constant:
        raise Unfit
    left, right = (value, other) if ctx.chance(0.6) else (other, value)
    ctx.mark("literal adapts")
    return rules.binary(op, left, right, want.dtype)


@option(2, lambda want: want.is_number)
def mixed(ctx: Context, want: Want) -> Value:
    """An operator on two types that meet in the wanted one."""
    kinds = (*NUMBERS, "index") if not want.shape else NUMBERS
    pairs = [(a, b) for a in kinds for b in kinds if a != b and rules.mixed(a, b) == want.dtype]
    first, second = ctx.pick(pairs)
    left, right = operands(ctx, want, first, second)
    if left.constant or right.constant or ("index" in (first, second) and not _runtime(left, right)):
        raise Unfit
    ctx.mark("mixed types", f"mixed:{want.dtype}")
    return rules.binary(ctx.pick("+-*"), left, right, want.dtype)


def _runtime(left: Value, right: Value) -> bool:
    """Whether neither side could be a constant to the compiler, whose constants adapt."""
    return not any(v.dtype == "index" and "ctx" not in v.text for v in (left, right))


@option(2, lambda want: want.dtype != "index")
def conversion(ctx: Context, want: Want) -> Value:
    """A conversion from another type."""
    source = ctx.pick([d for d in DTYPES if d != want.dtype])
    value = draw(ctx, want.smaller(source))
    ctx.mark(f"convert:{source}:{want.dtype}")
    return rules.convert(value, want.dtype, f"{ctx.spell(want.dtype)}({value.text})")


@option(1, lambda want: want.is_number and want.dtype != "index")
def unary(ctx: Context, want: Want) -> Value:
    """`-` or `~`."""
    value = draw(ctx, want.smaller())
    if want.is_float or ctx.chance(0.5):
        ctx.mark("operator:unary -")
        return rules.negative(value)
    ctx.mark("operator:~")
    return rules.complement(value)


@option(6, lambda want: want.dtype == "bool")
def comparison(ctx: Context, want: Want) -> Value:
    """A comparison of numbers."""
    dtype = ctx.pick(NUMBERS)
    left, right = operands(ctx, want, dtype, dtype)
    op = ctx.pick(COMPARISONS)
    ctx.mark(f"compare:{op}")
    return rules.comparison(op, left, right, dtype)


@option(2, lambda want: want.dtype == "bool")
def logical(ctx: Context, want: Want) -> Value:
    """`&&`, `||`, or a bit operator or comparison on bools."""
    op = ctx.pick(["&&", "||", "&&", "||", "&", "|", "^", "==", "!="])
    flow, ctx.flow = ctx.flow, LANE
    try:
        left, right = operands(ctx, want, "bool", "bool")
    finally:
        ctx.flow = flow
    ctx.mark(f"operator:{op}:bool")
    return rules.boolean(f"{left.operand} {op} {right.operand}", left, right)


@option(1, lambda want: want.dtype == "bool")
def opposite(ctx: Context, want: Want) -> Value:
    """`!`."""
    value = draw(ctx, want.smaller())
    ctx.mark("operator:!")
    return rules.boolean(f"!{value.operand}", value)


def bits_of(dtype: str) -> int:
    """Bits of a type's elements."""
    return BITS[dtype]
