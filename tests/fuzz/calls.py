"""Expressions made by the pure built-ins: elementwise functions, reductions, shapes, dots, bits."""

from __future__ import annotations

import math
from dataclasses import replace

from tests.fuzz import rules
from tests.fuzz.context import Context, shapes_onto
from tests.fuzz.draw import Want, draw, option
from tests.fuzz.operators import NUMBERS, operands
from tests.fuzz.values import BITS, CTA, FLOATS, Shape, Unfit, Value, integer, integer_range, stretch

SIZES = (1, 2, 3, 4, 5, 8, 16)
MOST = 600
"""Elements that a tile of the generator has at most."""


def named(name: str) -> str:
    """The feature of a built-in."""
    return f"builtin:{name}"


# Elementwise -------------------------------------------------------------------------------------


@option(4, lambda want: want.is_float)
def transcendental(ctx: Context, want: Want) -> Value:
    """A function of a float, of an operand that is made to lie in its domain."""
    name = ctx.pick(list(rules.FUNCTIONS))
    value = draw(ctx, want.smaller())
    if name in ("log", "log2", "sqrt", "rsqrt") and ctx.chance(0.8):
        value = _positive(value)
    ctx.mark(named(name))
    return rules.function(name, value)


def _positive(value: Value) -> Value:
    half = Value("0.25", value.dtype, low=0.25, high=0.25, grain=0.25)
    return rules.binary("+", rules.absolute(value), half, value.dtype)


@option(1, lambda want: want.is_float)
def power(ctx: Context, want: Want) -> Value:
    """`pow` of a positive base."""
    base, exponent = operands(ctx, want, want.dtype, want.dtype)
    ctx.mark(named("pow"))
    return rules.power(_positive(base) if ctx.chance(0.7) else base, exponent)


@option(1, lambda want: want.is_number and want.dtype != "index")
def absolute(ctx: Context, want: Want) -> Value:
    """`abs`."""
    ctx.mark(named("abs"))
    return rules.absolute(draw(ctx, want.smaller()))


@option(1.2, lambda want: want.is_float)
def whole(ctx: Context, want: Want) -> Value:
    """`round`, `floor` or `ceil`."""
    name = ctx.pick(["round", "floor", "ceil"])
    ctx.mark(named(name))
    return rules.whole(name, draw(ctx, want.smaller()))


@option(2.5, lambda want: want.is_number and want.dtype != "index")
def selection(ctx: Context, want: Want) -> Value:
    """`min`, `max`, `tmin` or `tmax`."""
    name = ctx.pick(["min", "max", "tmin", "tmax"])
    left, right = operands(ctx, want, want.dtype, want.dtype)
    ctx.mark(named(name))
    return rules.either(f"{name}({left.text}, {right.text})", want.dtype, left, right)


@option(2, lambda want: want.dtype not in ("bool", "index"))
def where(ctx: Context, want: Want) -> Value:
    """`where` on a condition."""
    shapes = shapes_onto(want.shape)
    first, second, third = (ctx.pick(shapes) for _ in range(3))
    if stretch(first, second, third) != want.shape:
        raise Unfit
    condition = draw(ctx, want.smaller("bool", first))
    left, right = draw(ctx, want.smaller(shape=second)), draw(ctx, want.smaller(shape=third))
    ctx.mark(named("where"))
    text = f"where({condition.text}, {left.text}, {right.text})"
    return rules.either(text, want.dtype, left, right, condition)


@option(1, lambda want: want.is_float)
def fused(ctx: Context, want: Want) -> Value:
    """`fma`."""
    a, b = operands(ctx, want, want.dtype, want.dtype)
    ctx.mark(named("fma"))
    return rules.fused(a, b, draw(ctx, want.smaller(shape=ctx.pick(shapes_onto(want.shape)))))


# Bits --------------------------------------------------------------------------------------------


@option(1, lambda want: want.dtype == "i32")
def popcount(ctx: Context, want: Want) -> Value:
    """`popcount` of any integer."""
    dtype = ctx.pick(["i8", "u8", "i32", "i64"])
    value = draw(ctx, want.smaller(dtype))
    ctx.mark(named("popcount"))
    return integer(rules.joined(f"popcount({value.text})", "i32", value, atom=True), 0, BITS[dtype])


@option(0.8, lambda want: want.dtype == "i32")
def byteperm(ctx: Context, want: Want) -> Value:
    """`byteperm`."""
    a, b = operands(ctx, want, "i32", "i32")
    selector = draw(ctx, want.smaller(shape=ctx.pick(shapes_onto(want.shape))))
    ctx.mark(named("byteperm"))
    text = f"byteperm({a.text}, {b.text}, {selector.text})"
    return integer(rules.joined(text, "i32", a, b, selector, atom=True), *integer_range("i32"))


@option(1, lambda want: want.dtype in ("i32", "i64"))
def bits(ctx: Context, want: Want) -> Value:
    """`bits` of a float whose bits are certain."""
    value = draw(ctx, want.smaller("f32" if want.dtype == "i32" else "f64"), exact=True)
    if value.special:
        raise Unfit
    ctx.mark(named("bits"))
    out = rules.joined(f"bits({value.text} + 0.0)", want.dtype, value, atom=True)
    return integer(out, *integer_range(want.dtype))


@option(0.8, lambda want: want.dtype in ("f32", "f64"))
def from_bits(ctx: Context, want: Want) -> Value:
    """`from_bits` of an integer made to be the bits of a float in [1, 2)."""
    dtype, low = ("i32", 0x3F800000) if want.dtype == "f32" else ("i64", 0x3FF0000000000000)
    value = draw(ctx, want.smaller(dtype))
    ctx.mark(named("from_bits"))
    text = f"from_bits(({value.operand} & 0xffff) | {hex(low)})"
    return replace(rules.joined(text, want.dtype, value, atom=True), low=1.0, high=2.0)


# Shapes ------------------------------------------------------------------------------------------


def _sized(ctx: Context, rows: int) -> int:
    return ctx.pick([n for n in SIZES if n * rows <= MOST])


@option(1, lambda want: want.dtype == "i32" and len(want.shape) == 2 and want.shape[0] == 1, leaf=True)
def iota(ctx: Context, want: Want) -> Value:
    """`iota`."""
    length = want.shape[1]
    ctx.mark(named("iota"))
    return Value(f"iota({ctx.extent(length)})", "i32", want.shape, 0, length - 1, 1)


@option(1.5, lambda want: len(want.shape) == 2 and want.dtype != "index")
def transpose(ctx: Context, want: Want) -> Value:
    """`transpose`."""
    value = draw(ctx, want.smaller(shape=want.shape[::-1]))
    ctx.mark(named("transpose"))
    return replace(value, text=f"transpose({value.text})", shape=want.shape, atom=True)


@option(1.2, lambda want: len(want.shape) == 2 and want.is_number)
def triangle(ctx: Context, want: Want) -> Value:
    """`tril` or `triu`."""
    value = draw(ctx, want.smaller())
    name = ctx.pick(["tril", "triu"])
    diagonal = ctx.pick(["", ", 1", ", -1", ", 2"])
    ctx.mark(named(name))
    low, high = min(value.low, 0), max(value.high, 0)
    return replace(value, text=f"{name}({value.text}{diagonal})", low=low, high=high, atom=True)


@option(1, lambda want: len(want.shape) == 1 and want.dtype != "index")
def flat(ctx: Context, want: Want) -> Value:
    """`flat` of a tile of as many elements."""
    count = want.shape[0]
    rows = ctx.pick([r for r in range(1, count + 1) if count % r == 0])
    value = draw(ctx, want.smaller(shape=(rows, count // rows)))
    ctx.mark(named("flat"))
    return replace(value, text=f"flat({value.text})", shape=want.shape, atom=True)


@option(1, lambda want: want.shape != () and want.dtype != "index")
def gather(ctx: Context, want: Want) -> Value:
    """`gather` from a rank-1 tensor at integers of any type."""
    if ctx.sealed:
        raise Unfit
    tables = [t for t in ctx.tensors if t.dtype == want.dtype and len(t.dims) == 1 and not t.written]
    table = ctx.pick(tables) if tables else _table(ctx, want.dtype)
    index = draw(ctx, want.smaller(ctx.pick(["i32", "i64", "u8", "i8"])))
    ctx.mark(named("gather"))
    element = table.element
    low, high = min(element.low, 0), max(element.high, 0)
    text = f"gather({table.name}, {index.text})"
    return replace(element, text=text, shape=want.shape, low=low, high=high)


def _table(ctx: Context, dtype: str):
    found = ctx.input(dtype, 1)
    if len(found.dims) != 1:
        raise Unfit
    return found


# Reductions --------------------------------------------------------------------------------------


def _is_column(want: Want) -> bool:
    return len(want.shape) == 2 and want.shape[1] == 1


def _is_row(want: Want) -> bool:
    return len(want.shape) == 2 and want.shape[0] == 1


def _reducible(want: Want) -> bool:
    return want.dtype not in ("bool", "index") and (_is_row(want) or _is_column(want))


@option(6, _reducible)
def extremum(ctx: Context, want: Want) -> Value:
    """`rowmax`, `rowmin`, `colmax` or `colmin`."""
    value, axis, _ = _reduced(ctx, want, want.dtype)
    name = f"{axis}{ctx.pick(['max', 'min'])}"
    ctx.mark(named(name))
    return replace(value, text=f"{name}({value.text})", shape=want.shape, atom=True)


@option(6, _reducible)
def total(ctx: Context, want: Want) -> Value:
    """`rowsum` or `colsum`."""
    dtype = _summand(ctx, want.dtype)
    value, axis, count = _reduced(ctx, want, dtype)
    ctx.mark(named(f"{axis}sum"))
    return rules.total(f"{axis}sum({value.text})", value, count, want.shape)


def _summand(ctx: Context, dtype: str) -> str:
    return ctx.pick([d for d in NUMBERS if rules.sum_dtype(d) == dtype])


def _reduced(ctx: Context, want: Want, dtype: str) -> tuple[Value, str, int]:
    axes = [a for a, fits in (("row", _is_column(want)), ("col", _is_row(want))) if fits]
    axis = ctx.pick(axes)
    kept = want.shape[0] if axis == "row" else want.shape[1]
    count = _sized(ctx, kept)
    shape: Shape = (kept, count) if axis == "row" else (count, kept)
    if axis == "row" and kept == 1 and ctx.chance(0.7):
        ctx.mark("rank-1 tile as a row")
        shape = (count,)
    return draw(ctx, want.smaller(dtype, shape)), axis, count


@option(14, lambda want: want.dtype == "i32" and _is_column(want))
def argmax(ctx: Context, want: Want) -> Value:
    """`rowargmax` of elements whose bits are certain."""
    count = _sized(ctx, want.shape[0])
    value = draw(ctx, want.smaller(ctx.pick(NUMBERS), (want.shape[0], count)), exact=True)
    ctx.mark(named("rowargmax"))
    return integer(Value(f"rowargmax({value.text})", "i32", want.shape), 0, count - 1)


@option(1.5, lambda want: len(want.shape) == 2 and want.dtype not in ("bool", "index"))
def running_sum(ctx: Context, want: Want) -> Value:
    """`cumsum`."""
    value = draw(ctx, want.smaller(_summand(ctx, want.dtype)))
    ctx.mark(named("cumsum"))
    return rules.total(f"cumsum({value.text})", value, want.shape[0], want.shape, running=True)


# Dots --------------------------------------------------------------------------------------------

DOTS = {
    "f32": [("f16", "f16"), ("bf16", "bf16"), ("f32", "f32"), ("f16", "f32"), ("f16", "bf16")],
    "f64": [("f64", "f64"), ("f32", "f64")],
    "i32": [("i8", "i8"), ("u8", "u8"), ("i8", "u8"), ("i32", "i32")],
}


@option(6, lambda want: len(want.shape) == 2 and want.dtype in DOTS and want.level == CTA)
def dot(ctx: Context, want: Want) -> Value:
    """`dot` or `dot_t`."""
    rows, columns = want.shape
    depth = ctx.pick([k for k in SIZES if k * max(rows, columns) <= MOST])
    first, second = ctx.pick(DOTS[want.dtype])
    left = draw(ctx, want.smaller(first, (rows, depth)))
    name = ctx.pick(["dot", "dot_t"])
    right = draw(ctx, want.smaller(second, (columns, depth) if name == "dot_t" else (depth, columns)))
    ctx.mark(named(name), f"dot:{first}:{second}")
    return rules.product(
        f"{name}({left.text}, {right.text})", left, right, depth, want.shape, want.dtype
    )


def elements(shape: Shape) -> int:
    """Elements of a tile."""
    return math.prod(shape)


def is_float(dtype: str) -> bool:
    """Whether a type is a float."""
    return dtype in FLOATS
