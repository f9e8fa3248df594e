"""Expressions that exchange or combine the values of threads, and reads of shared arrays."""

from __future__ import annotations

from dataclasses import replace

from tests.fuzz import rules
from tests.fuzz.calls import named
from tests.fuzz.context import Context
from tests.fuzz.draw import Want, draw, option
from tests.fuzz.operators import NUMBERS
from tests.fuzz.values import CTA, LANE, WARP, Unfit, Value, integer


def _per_lane(want: Want) -> bool:
    return want.shape == () and want.level == LANE and want.dtype != "index"


@option(1.5, _per_lane)
def shuffle(ctx: Context, want: Want) -> Value:
    """`shuffle`, `shuffle_xor` or `shuffle_down`."""
    if ctx.flow > WARP:
        raise Unfit
    value = draw(ctx, want.smaller())
    name = ctx.pick(["shuffle", "shuffle_xor", "shuffle_down"])
    if name == "shuffle_xor":
        lane = str(ctx.pick([1, 2, 4, 8, 16, 31, 5]))
    elif name == "shuffle_down":
        lane = str(ctx.pick([1, 2, 7, 16, 31]))
    else:
        lane = ctx.pick(["0", "31", f"({draw(ctx, want.smaller('i32')).operand} & 31)"])
    ctx.mark(named(name), f"shuffle:{want.dtype}")
    return replace(value, text=f"{name}({value.text}, {lane})", level=LANE, atom=True, constant=False)


@option(2, lambda want: want.shape == () and want.level >= WARP and want.dtype in NUMBERS)
def over_lanes(ctx: Context, want: Want) -> Value:
    """`lane_sum`, `lane_max` or `lane_min`."""
    if ctx.flow > WARP:
        raise Unfit
    return _combined(ctx, want, "lane", 32, WARP)


@option(2, lambda want: want.shape == () and want.dtype in NUMBERS)
def over_block(ctx: Context, want: Want) -> Value:
    """`block_sum`, `block_max` or `block_min`."""
    if ctx.flow > CTA:
        raise Unfit
    return _combined(ctx, want, "block", ctx.threads, CTA)


def _combined(ctx: Context, want: Want, stem: str, count: int, level: int) -> Value:
    how = ctx.pick(["sum", "max", "min"])
    name = f"{stem}_{how}"
    sources = [d for d in NUMBERS if rules.sum_dtype(d) == want.dtype] if how == "sum" else [want.dtype]
    value = draw(ctx, replace(want.smaller(ctx.pick(sources)), level=LANE))
    ctx.mark(named(name))
    text = f"{name}({value.text})"
    if how == "sum":
        return replace(rules.total(text, value, count, ()), level=level)
    return replace(value, text=text, level=level, atom=True, constant=False)


@option(4, lambda want: want.shape == () and want.level == LANE)
def shared_element(ctx: Context, want: Want) -> Value:
    """An element of a shared array that is written and not being written."""
    array = ctx.pick([s for s in ctx.shared if s.dtype == want.dtype])
    indices = ", ".join(_inside(ctx, want, extent) for extent in array.shape)
    ctx.mark("shared:read")
    return replace(array, text=f"{array.text}[{indices}]", shape=(), level=LANE)


def _inside(ctx: Context, want: Want, extent: int) -> str:
    if ctx.chance(0.5) or want.depth < 1:
        return ctx.pick([f"ctx.thread % {extent}", str(ctx.rng.randrange(extent))])
    value = draw(ctx, want.smaller("i32"))
    return f"({value.operand} & 1023) % {extent}"


@option(0.5, lambda want: want.shape == () and want.dtype == "i32")
def extent_of(ctx: Context, want: Want) -> Value:
    """`extent(A, axis)`."""
    if ctx.sealed:
        raise Unfit
    tensor = ctx.pick(ctx.tensors)
    axis = ctx.rng.randrange(len(tensor.dims))
    ctx.mark(named("extent"))
    number = tensor.extents[axis]
    return integer(Value(f"i32(extent({tensor.name}, {axis}))", "i32"), number, number)
