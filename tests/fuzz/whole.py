"""Sections over whole run-time extents: `:` walked in chunks, elementwise and by reductions."""

from __future__ import annotations

from dataclasses import replace

from tests.fuzz import rules
from tests.fuzz.calls import named
from tests.fuzz.context import Context, TensorSpec
from tests.fuzz.leaves import number
from tests.fuzz.operators import NUMBERS
from tests.fuzz.values import FLOATS, Unfit, Value

EXTENTS = (1, 2, 5, 31, 64, 70, 130, 260)


def section(ctx: Context) -> None:
    """A view of whole rows or columns, its reductions, and stores of what follows from them."""
    axis = ctx.pick(["row", "col"])
    dtype, size = ctx.pick(NUMBERS), ctx.pick([1, 2, 3, 4, 8])
    symbol, extent = _symbol(ctx)
    source = _source(ctx, dtype, axis, symbol, size)
    shape = (size, extent) if axis == "row" else (extent, size)
    view = ctx.fresh("whole")
    owned = f"ctx.block.x * {size} :+ {size}"
    ctx.emit(f"let {view} = {source.name}[{f'{owned}, :' if axis == 'row' else f':, {owned}'}]")
    element = source.element
    x = replace(element, text=view, shape=shape, low=min(element.low, 0), high=max(element.high, 0))
    reduced = [
        _reduced(ctx, axis, _elementwise(ctx, [x], 1), extent, size) for _ in range(ctx.rng.randrange(3))
    ]
    _store(ctx, _elementwise(ctx, [x, *reduced], 2), axis, symbol, size)
    ctx.mark("subscript:whole extent", f"whole:{axis}", f"whole:{dtype}")


def _symbol(ctx: Context) -> tuple[str, int]:
    extent = ctx.pick(EXTENTS)
    known = [n for n, v in ctx.symbols.items() if v == extent]
    name = known[0] if known else f"N{len(ctx.symbols)}"
    ctx.symbols[name] = extent
    return name, extent


def _source(ctx: Context, dtype: str, axis: str, symbol: str, size: int) -> TensorSpec:
    other = str(size * ctx.grid[0])
    dims = [other, symbol] if axis == "row" else [symbol, other]
    kind = ctx.pick(["units", "quarters", "reals"] if dtype in FLOATS else ["small", "wide"])
    return ctx.tensor("X", dtype, dims, kind)


def _elementwise(ctx: Context, values: list[Value], depth: int) -> Value:
    """A small expression of the whole values, each met at most a few times."""
    value = values[0]
    for _ in range(depth):
        value = _step(ctx, value, values)
    return value


def _step(ctx: Context, value: Value, values: list[Value]) -> Value:
    dtype = value.dtype
    other = ctx.pick([*values, number(ctx, dtype)])
    if other.dtype != dtype:
        other = rules.convert(other, dtype)
    form = ctx.pick(["binary", "binary", "choice", "function" if dtype in FLOATS else "abs", "abs"])
    if form == "binary":
        return rules.binary(ctx.pick("+-*"), value, other, dtype)
    if form == "choice":
        name = ctx.pick(["min", "max"])
        return rules.either(f"{name}({value.text}, {other.text})", dtype, value, other)
    if form == "function":
        return rules.function(ctx.pick(["tanh", "sin", "sigmoid", "exp2"]), value)
    return rules.absolute(value)


def _reduced(ctx: Context, axis: str, value: Value, extent: int, size: int) -> Value:
    name = f"{axis}{ctx.pick(['sum', 'max', 'min'])}"
    shape = (size, 1) if axis == "row" else (1, size)
    text = f"{name}({value.text})"
    ctx.mark(named(name), "whole:reduction")
    if name.endswith("sum"):
        value = rules.total(text, value, extent, shape)
    else:
        value = replace(value, text=text, shape=shape, atom=True)
    kept = ctx.fresh("r")
    ctx.emit(f"let {kept} = {value.text}")
    return value.named(kept)


def _store(ctx: Context, value: Value, axis: str, symbol: str, size: int) -> None:
    others = [a for a in (2, 1) if ctx.grid[a] > 1]
    dims = [str(ctx.grid[a]) for a in others]
    parts = [f"ctx.block.{'xyz'[a]}" for a in others]
    own, place = str(size * ctx.grid[0]), f"ctx.block.x * {size} :+ {size}"
    dims += [own, symbol] if axis == "row" else [symbol, own]
    parts += [place, ":"] if axis == "row" else [":", place]
    dtype = value.dtype if ctx.chance(0.7) else ctx.pick([d for d in NUMBERS if d != value.dtype])
    kind = "units" if dtype in FLOATS else "small"
    out = ctx.tensor("O", dtype, dims, kind, written=True)
    kept = rules.convert(value, dtype)
    if value.constant:
        raise Unfit
    out.tolerance = kept.error
    ctx.emit(f"{out.name}[{', '.join(parts)}] = {value.text}")
    ctx.mark("store:whole")
