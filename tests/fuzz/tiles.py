"""Sections of tile statements: views, copies, tiles, uniform control flow, sums over slices, stores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.fuzz import rules
from tests.fuzz.context import Context
from tests.fuzz.draw import Want, draw
from tests.fuzz.leaves import number, slice_of
from tests.fuzz.statements import (
    assign,
    branch,
    claim,
    declare,
    fill,
    guarded,
    loop,
    repeat,
    say,
    tried,
    zero,
)
from tests.fuzz.stores import Owned, new_point, new_tile, store, update
from tests.fuzz.values import CTA, DTYPES, FLOATS, INTEGERS, Shape, Unfit, Value

SIDES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 32)


def section(ctx: Context) -> None:
    """Some tile statements and the stores of what they computed."""
    shape = _shape(ctx)
    outputs: list[Owned] = []
    early = ctx.chance(0.5)
    if early and ctx.chance(0.4):
        tried(ctx, lambda: accumulation(ctx, shape))
    for _ in range(ctx.rng.randrange(2, 6)):
        tried(ctx, lambda: statement(ctx, shape, outputs, 2))
    if not early and ctx.chance(0.4):
        tried(ctx, lambda: accumulation(ctx, shape))
    for _ in range(ctx.rng.randrange(1, 3)):
        tried(ctx, lambda: final(ctx, shape, outputs))
    if ctx.chance(0.4) and outputs:
        tried(ctx, lambda: update(ctx, ctx.pick(outputs)))
    if ctx.chance(0.3) and outputs:
        tried(ctx, lambda: read_back(ctx, outputs))


def _shape(ctx: Context) -> Shape:
    rank = ctx.weighted([(6, 2), (1.5, 1), (0.8, 3)])
    if rank == 1:
        return (ctx.pick([n for n in SIDES if n > 1]),)
    if rank == 3:
        return (ctx.pick([1, 2, 3]), ctx.pick([1, 2, 4, 5]), ctx.pick([4, 7, 8]))
    rows = ctx.steps[0] if ctx.chance(0.6) else ctx.pick(SIDES)
    columns = ctx.steps[1] if ctx.chance(0.6) else ctx.pick(SIDES)
    if rows * columns <= 512 or ctx.chance(0.15):
        return rows, columns
    return rows, 8


def statement(ctx: Context, shape: Shape, outputs: list[Owned], depth: int) -> None:
    """One statement, nested blocks included."""

    def body(inner: Context, left: int) -> None:
        for _ in range(inner.rng.randrange(1, 3)):
            tried(inner, lambda: statement(inner, shape, outputs, left))

    options: list[tuple[float, Callable[[], None]]] = [
        (3, lambda: declare(ctx, _dtype(ctx), _part(ctx, shape), CTA)),
        (1, lambda: declare(ctx, ctx.pick([*DTYPES, "index"]), (), CTA)),
        (2, lambda: view(ctx, shape)),
        (1.5, lambda: copy(ctx, shape)),
        (0.7, lambda: fill(ctx, _dtype(ctx), shape)),
        (0.3, lambda: zero(ctx, _dtype(ctx), _part(ctx, shape), CTA)),
        (0.3, lambda: guarded(ctx, CTA)),
        (0.5, lambda: again(ctx)),
        (3, lambda: assign(ctx, CTA)),
        (0.3, lambda: say(ctx, CTA)),
        (0.3, lambda: claim(ctx, CTA)),
        (1.5, lambda: nested_store(ctx, shape, outputs)),
    ]
    if depth > 0:
        options += [
            (1, lambda: branch(ctx, body, depth, CTA)),
            (1.2, lambda: loop(ctx, body, depth, CTA)),
            (0.6, lambda: repeat(ctx, body, depth, CTA)),
        ]
    ctx.weighted(options)()


def _dtype(ctx: Context) -> str:
    return ctx.pick(DTYPES)


def _part(ctx: Context, shape: Shape) -> Shape:
    """The shape or a narrower one."""
    if len(shape) != 2 or ctx.chance(0.6):
        return shape
    return ctx.pick([(shape[0], 1), (1, shape[1]), shape[1:], shape[::-1]])


# Views and copies --------------------------------------------------------------------------------


def view(ctx: Context, shape: Shape) -> None:
    """`let v = A[slice]`, padded or not."""
    value = _read(ctx, shape)
    name = ctx.fresh("w")
    ctx.emit(f"let {name} = {value.text}")
    ctx.mark("let:view")
    ctx.bind(value.named(name))


def again(ctx: Context) -> None:
    """A view by another name, or padded."""
    views = [v.value for scope in ctx.scopes for v in scope if v.value.text.startswith("w_")]
    view = ctx.pick(views)
    name, filler = ctx.fresh("w"), number(ctx, view.dtype if view.dtype != "bool" else "i32")
    if view.dtype == "bool" or ctx.chance(0.5):
        ctx.emit(f"let {name} = {view.text}")
        ctx.mark("let:view of a view")
        ctx.bind(view.named(name))
        return
    ctx.emit(f"{ctx.pick(['let', 'var'])} {name} = pad({view.text}, {filler.text})")
    low, high = min(view.low, filler.low), max(view.high, filler.high)
    grain = None if view.grain is None else min(view.grain, 0.25)
    ctx.mark("pad", "pad:view")
    ctx.bind(replace(view, text=name, low=low, high=high, grain=grain))


def copy(ctx: Context, shape: Shape) -> None:
    """`var t = A[slice]`, padded or not."""
    value = _read(ctx, shape)
    name = ctx.fresh("c")
    ctx.emit(f"var {name} = {value.text}")
    ctx.mark("var:copy")
    ctx.bind(value.named(name))


def _read(ctx: Context, shape: Shape) -> Value:
    dtype = _dtype(ctx)
    part = _part(ctx, shape)
    read = slice_of(ctx, ctx.input(dtype, len(part)), Want(dtype, part, 1))
    if ctx.chance(0.75) or dtype == "bool":
        return read
    filler = number(ctx, dtype)
    ctx.mark("pad")
    low, high = min(read.low, filler.low), max(read.high, filler.high)
    grain = None if read.grain is None else min(read.grain, 0.25)
    return replace(read, text=f"pad({read.text}, {filler.text})", low=low, high=high, grain=grain)


# Sums --------------------------------------------------------------------------------------------


def accumulation(ctx: Context, shape: Shape) -> None:
    """A tile that sums dots or other tiles over slices of an axis."""
    if len(shape) != 2:
        raise Unfit
    steps = ctx.rng.randrange(1, 4)
    depth = ctx.pick([1, 2, 3, 4, 8, 16])
    name, loop_name = ctx.fresh("acc"), ctx.fresh("k")
    left_dtype = ctx.pick([*FLOATS, "i8", "i32"])
    right_dtype = left_dtype if ctx.chance(0.8) or left_dtype in INTEGERS else ctx.pick(FLOATS)
    meet = rules.mixed(left_dtype, right_dtype)
    dtype = "i32" if left_dtype in INTEGERS else ("f64" if meet == "f64" else "f32")
    left, right = ctx.input(left_dtype, 2), ctx.input(right_dtype, 2)
    if len(left.dims) != 2 or len(right.dims) != 2:
        raise Unfit
    ctx.emit(f"var {name}: {ctx.tile_type(dtype, shape)} = {'0' if dtype == 'i32' else '0.0'}")
    start = ctx.pick([0, 0, 0, -1, 2])
    stop = start + steps * depth - ctx.rng.randrange(depth)
    with ctx.block(f"for {loop_name} in range({start}, {stop}, {ctx.extent(depth)})"):
        total = _added(ctx, (left, right), loop_name, depth, shape)
        ctx.emit(f"{name} += {total.text}")
    summed = rules.total(name, replace(total, shape=shape), steps, shape)
    if summed.dtype != dtype:
        raise Unfit
    ctx.mark("accumulate dot")
    ctx.bind(replace(summed, text=name, atom=True))


def _added(ctx: Context, tensors, position: str, depth: int, shape: Shape) -> Value:
    """The dot of a slice of each tensor."""
    rows, columns = shape
    n = ctx.extent(depth)
    owned = f"ctx.block.x * {ctx.extent(rows)} :+ {ctx.extent(rows)}"
    across = f"ctx.block.y * {ctx.extent(columns)} :+ {ctx.extent(columns)}"
    along = f"{position} :+ {n}"
    name = ctx.pick(["dot", "dot", "dot_t"])
    keyword = ctx.pick(["let", "var"])
    a, b = ctx.fresh("a"), ctx.fresh("b")
    left, right = tensors
    ctx.emit(f"{keyword} {a} = {left.name}[{owned}, {along}]")
    inside = f"{across}, {along}" if name == "dot_t" else f"{along}, {across}"
    ctx.emit(f"{keyword} {b} = {right.name}[{inside}]")
    first = replace(left.element, text=a, shape=(rows, depth))
    second = replace(right.element, text=b, shape=(depth, columns))
    meet = rules.mixed(left.dtype, right.dtype)
    dtype = "i32" if meet in INTEGERS else ("f64" if meet == "f64" else "f32")
    return rules.product(f"{name}({a}, {b})", first, second, depth, shape, dtype)


# Stores ------------------------------------------------------------------------------------------


def final(ctx: Context, shape: Shape, outputs: list[Owned]) -> None:
    """A store to a new output."""
    dtype = _dtype(ctx)
    if ctx.chance(0.15):
        place = new_point(ctx, dtype, CTA)
        store(ctx, place, draw(ctx, Want(dtype, (), 2, CTA)))
    else:
        part = _part(ctx, shape)
        place = new_tile(ctx, dtype, part)
        source = ctx.pick(DTYPES) if ctx.chance(0.3) and dtype != "bool" else dtype
        source = dtype if source == "bool" else source
        value = draw(ctx, Want(source, ctx.pick([part, part, part, ()]), 3, CTA))
        if source != dtype:
            ctx.mark("store:converts")
        store(ctx, place, value)
    outputs.append(place)


def nested_store(ctx: Context, shape: Shape, outputs: list[Owned]) -> None:
    """A store of bits that everyone agrees on, whatever block it stands in."""
    dtype = _dtype(ctx)
    place = new_tile(ctx, dtype, shape)
    place.store(draw_exact := draw(ctx, Want(dtype, shape, 1, CTA), exact=True))
    ctx.emit(f"{place.text} = {draw_exact.text}")
    if dtype in INTEGERS and ctx.chance(0.5):
        ctx.emit(f"{place.text} += 3")
    ctx.mark("store:nested" if ctx.indent > 1 else "store:tile")
    outputs.append(place) if ctx.indent == 1 else None


def read_back(ctx: Context, outputs: list[Owned]) -> None:
    """Read what was stored, by the same CTA, and store it elsewhere."""
    place = ctx.pick([o for o in outputs if o.shape and not o.content.error])
    name = ctx.fresh("r")
    ctx.emit(f"{ctx.pick(['let', 'var'])} {name} = {place.text}")
    value = replace(place.content, text=name, shape=place.shape, atom=True, constant=False)
    ctx.bind(value)
    target = new_tile(ctx, value.dtype, value.shape)
    store(ctx, target, value)
    ctx.mark("read back")
