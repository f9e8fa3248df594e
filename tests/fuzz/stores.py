"""Output tensors and the places in them that one CTA or one thread owns."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.fuzz import rules
from tests.fuzz.context import Context, TensorSpec
from tests.fuzz.draw import Want, draw
from tests.fuzz.values import CTA, FLOATS, LANE, Shape, Unfit, Value


@dataclass
class Owned:
    """A place of an output tensor that nobody else writes, and what is known to be there.

    text: the subscripted tensor. level: CTA for a tile or a CTA's scalar, LANE for a thread's element.
    """

    tensor: TensorSpec
    text: str
    shape: Shape
    level: int
    content: Value

    def store(self, value: Value) -> None:
        """Note what a store leaves."""
        kept = rules.convert(value, self.tensor.dtype)
        self.content = replace(kept, low=min(kept.low, 0), high=max(kept.high, 0))
        self.tensor.tolerance = max(self.tensor.tolerance, kept.error)


def new_tile(ctx: Context, dtype: str, shape: Shape) -> Owned:
    """A box of a new output tensor: its first axes walk with the CTA, others are whole."""
    dims, parts = _leading(ctx, used=min(ctx.axes, len(shape)))
    for axis, extent in enumerate(shape):
        walked = axis < ctx.axes
        dims.append(_walked(ctx, axis, extent) if walked else str(extent))
        if walked:
            parts.append(f"ctx.block.{'xyz'[axis]} * {ctx.extent(extent)} :+ {ctx.extent(extent)}")
        else:
            parts.append(ctx.pick([":", f"0 :+ {extent}", f"0 : {extent}"]))
    return _made(ctx, dtype, dims, parts, shape, CTA)


def _leading(ctx: Context, used: int) -> tuple[list[str], list[str]]:
    """Point axes for the grid's axes that no slice walks."""
    axes = [a for a in (2, 1, 0) if a >= used and (ctx.grid[a] > 1 or ctx.chance(0.1))]
    return [str(ctx.grid[a]) for a in axes], [f"ctx.block.{'xyz'[a]}" for a in axes]


def _walked(ctx: Context, axis: int, step: int) -> str:
    """A symbol whose extent the grid covers, the last part in general ragged."""
    whole = (ctx.grid[axis] - 1) * step
    extent = whole + (step if ctx.chance(0.4) else ctx.rng.randrange(1, step + 1))
    if ctx.chance(0.04):
        extent = ctx.pick([0, 1])
    known = [n for n, v in ctx.symbols.items() if v == extent]
    if known:
        return known[0]
    name = f"N{len(ctx.symbols)}"
    ctx.symbols[name] = extent
    return name


def _made(
    ctx: Context, dtype: str, dims: list[str], parts: list[str], shape: Shape, level: int
) -> Owned:
    kind = ctx.pick(["units", "quarters"]) if dtype in FLOATS else ctx.pick(["small", "wide"])
    tensor = ctx.tensor("O", dtype, dims, kind, written=True)
    text = f"{tensor.name}[{', '.join(parts)}]"
    start = tensor.element
    content = replace(start, low=min(start.low, 0), high=max(start.high, 0))
    return Owned(tensor, text, shape, level, content)


def new_point(ctx: Context, dtype: str, level: int) -> Owned:
    """An element of a new output tensor per CTA, or per thread."""
    dims, parts = _leading(ctx, used=1)
    if level == CTA:
        dims.append(str(ctx.grid[0]))
        parts.append("ctx.block.x")
    else:
        dims.append(_walked(ctx, 0, ctx.threads))
        parts.append(f"ctx.block.x * {ctx.threads} + ctx.thread")
    return _made(ctx, dtype, dims, parts, (), level)


def store(ctx: Context, place: Owned, value: Value) -> None:
    """Write a store of a value of any number type."""
    place.store(value)
    ctx.emit(f"{place.text} = {value.text}")
    ctx.mark("store:tile" if place.shape else ("store:thread" if place.level else "store:once"))


UPDATES = {"float": "+-*/", "integer": ["+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"]}


def update(ctx: Context, place: Owned) -> None:
    """Write a compound store."""
    dtype = place.tensor.dtype
    if dtype == "bool":
        raise Unfit
    op = ctx.pick(UPDATES["float" if dtype in FLOATS else "integer"])
    value = safe_right(ctx, op, draw(ctx, Want(dtype, place.shape, 1, place.level)))
    old = replace(place.content, text=place.text, shape=place.shape)
    place.store(rules.binary(op, old, value, dtype))
    ctx.emit(f"{place.text} {op}= {value.text}")
    ctx.mark(f"update:{op}=", "store:compound")


def safe_right(ctx: Context, op: str, value: Value) -> Value:
    """A right side that the operator is defined for."""
    if op in "/%":
        amount = ctx.rng.randrange(1, 9)
        return Value(f"{amount}", value.dtype, low=amount, high=amount, grain=1, constant=True)
    if op in ("<<", ">>"):
        amount = ctx.rng.randrange(8)
        return Value(f"{amount}", value.dtype, low=amount, high=amount, grain=1, constant=True)
    return value


def is_lane(place: Owned) -> bool:
    """Whether every thread has its own element."""
    return place.level == LANE
