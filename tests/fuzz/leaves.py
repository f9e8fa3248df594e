"""Expressions without parts: variables, numbers, ids, and reads of tensors."""

from __future__ import annotations

from dataclasses import replace

from tests.fuzz.context import Context, TensorSpec
from tests.fuzz.draw import Want, draw, option
from tests.fuzz.rules import convert
from tests.fuzz.values import CTA, INDEX_LIMIT, LANE, WARP, Unfit, Value, integer


@option(5, lambda want: True, leaf=True)
def variable(ctx: Context, want: Want) -> Value:
    """A name in scope."""
    return ctx.pick(ctx.visible(want.dtype, [want.shape], want.level)).value


@option(1.5, lambda want: not want.shape, leaf=True)
def literal(ctx: Context, want: Want) -> Value:
    """A number under its type's name; bools as they are."""
    if want.dtype == "bool":
        return Value(ctx.pick(["true", "false"]), "bool", low=0, high=1, grain=1, constant=True)
    value = number(ctx, want.dtype)
    if want.dtype == "index":
        return value
    return replace(value, text=f"{ctx.spell(want.dtype)}({value.text})", atom=True)


def number(ctx: Context, dtype: str) -> Value:
    """A number as it is written, which takes its type from what it meets."""
    if dtype in ("f16", "bf16", "f32", "f64"):
        amount = ctx.rng.randrange(-12, 13) * 0.25
        text = ctx.pick([f"{amount}", f"{amount:g}" if amount % 1 else f"{amount:.0f}.", f"{amount:e}"])
        return Value(text, dtype, low=amount, high=amount, grain=0.25, atom=amount >= 0, constant=True)
    whole = ctx.rng.randrange(0 if dtype in ("u8", "index") else -9, 10)
    text = hex(whole) if whole >= 0 and ctx.chance(0.1) else str(whole)
    return Value(text, dtype, low=whole, high=whole, grain=1, atom=whole >= 0, constant=True)


@option(1, lambda want: not want.shape and want.is_number, leaf=True)
def identity(ctx: Context, want: Want) -> Value:
    """A block or thread id, an extent or a constant, converted."""
    return convert(_index(ctx, want.level), want.dtype)


def _index(ctx: Context, level: int) -> Value:
    if ctx.sealed:
        raise Unfit
    options = [(f"ctx.block.{'xyz'[a]}", 0, ctx.grid[a] - 1, CTA) for a in range(3)]
    options += [(f"program_id({a})", 0, ctx.grid[a] - 1, CTA) for a in range(3)]
    options += [(f"ctx.blocks.{'xyz'[a]}", ctx.grid[a], ctx.grid[a], CTA) for a in range(3)]
    options += [(name, extent, extent, CTA) for name, extent in ctx.extents.items()]
    options += [(name, value, value, CTA) for name, value in ctx.constants.items()]
    options += [
        ("ctx.thread", 0, ctx.threads - 1, LANE),
        ("ctx.lane", 0, 31, LANE),
        ("ctx.warp", 0, ctx.threads // 32 - 1, WARP),
    ]
    text, low, high, own = ctx.pick([o for o in options if o[3] <= level])
    ctx.uses_blocks |= "blocks" in text
    ctx.mark(f"id:{text.split('(')[0]}" if "ctx" in text or "(" in text else "id:extent")
    return Value(text, "index", low=low, high=high, grain=1, level=own)


@option(0.8, lambda want: not want.shape and want.dtype != "index", leaf=True)
def argument(ctx: Context, want: Want) -> Value:
    """A scalar parameter."""
    return ctx.scalar(want.dtype)


@option(1, lambda want: not want.shape and want.dtype == "index")
def as_subscript(ctx: Context, want: Want) -> Value:
    """A small integer expression as an index: the remainder of an i32."""
    if ctx.sealed:
        raise Unfit
    value = draw(ctx, want.smaller("i32"))
    modulus = ctx.rng.randrange(2, 20)
    text = f"{value.operand} % {modulus} + 0 * ctx.block.x"
    return integer(Value(text, "index", level=value.level, atom=False), 1 - modulus, modulus - 1)


# Reads of tensors --------------------------------------------------------------------------------


@option(2, lambda want: want.shape == () and want.dtype != "index", leaf=True)
def point(ctx: Context, want: Want) -> Value:
    """One element, masked like everything else."""
    tensor = ctx.input(want.dtype, 1)
    indices = ", ".join(position(ctx, want.level, want.depth).text for _ in tensor.dims)
    ctx.mark("subscript:point")
    level = LANE if want.level == LANE else CTA
    return _outside_is_zero(replace(tensor.element, text=f"{tensor.name}[{indices}]", level=level))


def _outside_is_zero(value: Value) -> Value:
    return replace(value, low=min(value.low, 0), high=max(value.high, 0))


def position(ctx: Context, level: int, depth: int = 0) -> Value:
    """An index for a subscript; it may lie outside."""
    kind = ctx.weighted([(4, "owned"), (2, "constant"), (1, "extent"), (2, "name"), (1, "drawn")])
    if kind == "owned":
        axis, step = ctx.pick([(0, ctx.steps[0]), (1, ctx.steps[1]), (2, 1)])
        text = (
            f"ctx.block.{'xyz'[axis]} * {ctx.extent(step)}" if step > 1 else f"ctx.block.{'xyz'[axis]}"
        )
        if level == LANE and ctx.chance(0.6):
            text += " + ctx.thread"
        return _shifted(ctx, Value(text, "index", low=0, high=2000, atom=False))
    if kind == "extent" and ctx.extents:
        name = ctx.pick(list(ctx.extents))
        return _shifted(ctx, Value(name, "index", low=0, high=ctx.extents[name]))
    if kind == "name":
        names = [
            v.value for v in ctx.visible("index", [()], level) if v.value.magnitude < INDEX_LIMIT / 4
        ]
        if names:
            return _shifted(ctx, ctx.pick(names))
    if kind == "drawn" and depth > 0:
        return draw(ctx, Want("index", (), depth - 1, level))
    whole = ctx.rng.randrange(-3, 12)
    return Value(str(whole), "index", low=whole, high=whole, constant=True)


def _shifted(ctx: Context, value: Value) -> Value:
    if ctx.chance(0.6):
        return value
    shift = ctx.rng.randrange(1, 6)
    sign = ctx.pick("+-")
    return replace(value, text=f"{value.text} {sign} {shift}", atom=False)


@option(3, lambda want: want.shape != () and want.dtype != "index", leaf=True)
def box(ctx: Context, want: Want) -> Value:
    """A slice of a tensor."""
    tensor = ctx.input(want.dtype, len(want.shape))
    return slice_of(ctx, tensor, want)


def slice_of(ctx: Context, tensor: TensorSpec, want: Want) -> Value:
    """A slice of the wanted shape: points on the axes that it has not."""
    rank, extra = len(tensor.dims), len(tensor.dims) - len(want.shape)
    points = set(ctx.rng.sample(range(rank), extra))
    lengths = iter(want.shape)
    parts = [
        position(ctx, CTA, want.depth).text if axis in points else _span(ctx, dim, next(lengths))
        for axis, dim in enumerate(tensor.dims)
    ]
    if points:
        ctx.mark("subscript:points and slices")
    text = f"{tensor.name}[{', '.join(parts)}]"
    return _outside_is_zero(replace(tensor.element, text=text, shape=want.shape))


def _span(ctx: Context, dim: str, length: int) -> str:
    extent = None if dim in ctx.symbols else ctx.size(dim)
    options = ["along", "along", "along", "until", "ends"]
    options += ["all", "all"] if extent == length else []
    options += ["head"]
    options += ["tail"] if extent is not None and extent > length else []
    form = ctx.pick(options)
    ctx.mark(f"subscript:{form}")
    if form == "all":
        return ":"
    if form == "head":
        return f": {ctx.extent(length)}"
    if form == "tail":
        return f"{extent - length} :"
    if form == "ends":
        start = ctx.rng.randrange(-2, 9)
        return f"{start} : {start + length}"
    start = position(ctx, CTA, 0)
    text = f"{start.text} :+ {ctx.extent(length)}"
    if form == "until":
        text += f" until {position(ctx, CTA, 0).text}"
    return text
