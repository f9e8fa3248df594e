"""Sections of per-thread statements: divergent control flow, elements, shared arrays, atomics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.fuzz import rules
from tests.fuzz.calls import named
from tests.fuzz.context import Context
from tests.fuzz.draw import Want, draw
from tests.fuzz.statements import (
    assign,
    branch,
    claim,
    condition,
    declare,
    guarded,
    loop,
    repeat,
    say,
    tried,
    zero,
)
from tests.fuzz.stores import Owned, new_point, store, update
from tests.fuzz.values import CTA, DTYPES, FLOATS, INTEGERS, LANE, Unfit, Value


def section(ctx: Context) -> None:
    """Some per-thread statements and the stores of what they computed."""
    outputs: list[Owned] = []
    for _ in range(ctx.rng.randrange(2, 6)):
        tried(ctx, lambda: statement(ctx, outputs, 2))
    for _ in range(ctx.rng.randrange(1, 3)):
        tried(ctx, lambda: final(ctx, outputs))
    if ctx.chance(0.5) and outputs:
        tried(ctx, lambda: update(ctx, ctx.pick(outputs)))


def statement(ctx: Context, outputs: list[Owned], depth: int) -> None:
    """One statement, nested blocks included."""

    def body(inner: Context, left: int) -> None:
        for _ in range(inner.rng.randrange(1, 3)):
            tried(inner, lambda: statement(inner, outputs, left))

    options: list[tuple[float, Callable[[], None]]] = [
        (3, lambda: declare(ctx, ctx.pick([*DTYPES, "index"]), (), LANE)),
        (4, lambda: assign(ctx, LANE)),
        (0.3, lambda: say(ctx, LANE)),
        (0.3, lambda: claim(ctx, LANE)),
        (1.5, lambda: nested_store(ctx)),
        (0.5, lambda: barrier(ctx)),
        (0.4, lambda: zero(ctx, ctx.pick(DTYPES), (), LANE)),
        (0.4, lambda: guarded(ctx, LANE)),
        (0.3, lambda: counted(ctx)),
    ]
    if depth > 0:
        options += [
            (1.5, lambda: branch(ctx, body, depth, LANE)),
            (1.5, lambda: loop(ctx, body, depth, LANE)),
            (1, lambda: repeat(ctx, body, depth, LANE)),
        ]
    ctx.weighted(options)()


def barrier(ctx: Context) -> None:
    """`barrier()`, where all threads are together."""
    if ctx.flow > CTA:
        raise Unfit
    ctx.emit("barrier()")
    ctx.mark(named("barrier"))


def final(ctx: Context, outputs: list[Owned]) -> None:
    """A store of every thread to its own element of a new output."""
    dtype = ctx.pick(DTYPES)
    place = new_point(ctx, dtype, LANE)
    source = ctx.pick(DTYPES) if ctx.chance(0.3) else dtype
    if "bool" in (source, dtype):
        source = dtype
    store(ctx, place, draw(ctx, Want(source, (), 3, LANE)))
    outputs.append(place)


def nested_store(ctx: Context) -> None:
    """A store in whatever block it stands, and sometimes an update of integers."""
    dtype = ctx.pick(DTYPES)
    place = new_point(ctx, dtype, LANE)
    value = draw(ctx, Want(dtype, (), 2, LANE), exact=True)
    place.store(value)
    ctx.emit(f"{place.text} = {value.text}")
    if dtype in INTEGERS and ctx.chance(0.5):
        ctx.emit(f"{place.text} {ctx.pick(['+=', '^=', '-='])} 5")
    ctx.mark("store:thread nested")


def leave(ctx: Context) -> None:
    """A divergent `return`, after which threads only store to their own elements."""
    test = condition(ctx, LANE)
    with ctx.block(f"if {test.text}", LANE):
        ctx.emit("return")
    ctx.mark("return:lane")
    ctx.flow = LANE
    section(ctx)


def leave_together(ctx: Context) -> None:
    """A `return` of whole CTAs."""
    test = condition(ctx, CTA)
    with ctx.block(f"if {test.text}"):
        ctx.emit("return")
    ctx.mark("return:CTA")


# Shared arrays -----------------------------------------------------------------------------------


def shared(ctx: Context) -> None:
    """A shared array: written by all threads, read after a barrier, in rounds."""
    dtype = ctx.pick(DTYPES)
    shape = ctx.pick([(ctx.threads,), (4, 33), (16, 17), (8, 8), (100,), (2, 3, 5)])
    name = ctx.fresh("sh")
    ctx.emit(f"var {name}: shared<{ctx.spell(dtype)}>[{', '.join(str(n) for n in shape)}]")
    ctx.mark("shared", f"shared:{dtype}")
    for _ in range(ctx.rng.randrange(1, 3)):
        written = _write_shared(ctx, name, dtype, shape)
        ctx.emit("barrier()")
        ctx.mark(named("barrier"))
        ctx.shared.append(written)
        for _ in range(2):
            tried(ctx, lambda: final(ctx, []))
        ctx.shared.remove(written)
        ctx.emit("barrier()")


def _write_shared(ctx: Context, name: str, dtype: str, shape: tuple[int, ...]) -> Value:
    count = 1
    for extent in shape:
        count *= extent
    element = ctx.fresh("e")
    flow = CTA if count % ctx.threads == 0 and ctx.chance(0.5) else LANE
    if flow == CTA and count == ctx.threads:
        value = draw(ctx, Want(dtype, (), 2, LANE), exact=True)
        ctx.emit(f"{name}[{_unflattened('ctx.thread', shape)}] = {value.text}")
        return replace(value, text=name, shape=shape, atom=True)
    with ctx.block(f"for {element} in range(ctx.thread, {count}, {ctx.threads})", LANE):
        ctx.bind(Value(element, "index", low=0, high=count, grain=1, level=LANE))
        value = draw(ctx, Want(dtype, (), 2, LANE), exact=True)
        ctx.emit(f"{name}[{_unflattened(element, shape)}] = {value.text}")
    return replace(value, text=name, shape=shape, atom=True)


def _unflattened(index: str, shape: tuple[int, ...]) -> str:
    """The subscripts of element number `index`, row-major."""
    if len(shape) == 1:
        return index
    if len(shape) == 2:
        return f"{index} / {shape[1]}, {index} % {shape[1]}"
    return f"{index} / {shape[1] * shape[2]}, {index} / {shape[2]} % {shape[1]}, {index} % {shape[2]}"


def tree(ctx: Context) -> None:
    """A tree reduction in shared memory, as it is taught."""
    dtype = ctx.pick(["i32", "i64", "f32", "f64", "u8"])
    kind = "small" if dtype in INTEGERS else "units"
    name, half = ctx.fresh("sh"), ctx.fresh("h")
    value = draw(ctx, Want(dtype, (), 1, LANE), exact=True)
    out = rules.total(name, value, ctx.threads, ())
    if out.error or (dtype in FLOATS and value.grain is None):
        raise Unfit
    power = 1 << (ctx.threads - 1).bit_length()
    ctx.emit(f"var {name}: shared<{dtype}>[{power}]")
    ctx.emit(f"{name}[ctx.thread] = {value.text}")
    if power > ctx.threads:
        with ctx.block(f"if ctx.thread < {power - ctx.threads}", LANE):
            ctx.emit(f"{name}[ctx.thread + {ctx.threads}] = {'0.0' if dtype in FLOATS else '0'}")
    ctx.emit("barrier()")
    ctx.emit(f"var {half}: i32 = {power // 2}")
    with ctx.block(f"while {half} > 0"):
        with ctx.block(f"if ctx.thread < {half}", LANE):
            ctx.emit(f"{name}[ctx.thread] += {name}[ctx.thread + {half}]")
        ctx.emit("barrier()")
        ctx.emit(f"{half} /= 2")
    place = new_point(ctx, dtype, LANE)
    low, high = (out.low, out.high) if dtype in FLOATS else (0, 255)
    result = Value(f"{name}[0]", dtype, low=low, high=high, grain=value.grain, level=LANE)
    store(ctx, place, result if dtype in FLOATS else replace(result, low=0, high=100))
    ctx.emit("barrier()")
    ctx.mark("shared", "shared:tree", f"values of a tree:{kind}")


# Atomics -----------------------------------------------------------------------------------------


def atomic(ctx: Context) -> None:
    """Atomics of threads or of a tile whose result does not depend on their order."""
    dtype = ctx.pick(["i32", "i64", "f32", "f64", "f32", "f16", "bf16"])
    form = ctx.pick(["lane", "lane", "tile", "tile", "old", "cas"])
    name = ctx.pick(["atomic_add", "atomic_add", "atomic_max", "atomic_min"])
    if form == "cas":
        dtype, name = ctx.pick(["i32", "i64"]), "atomic_cas"
    {"lane": _scattered, "tile": _tile, "old": _old, "cas": _compare}[form](ctx, name, dtype)
    ctx.mark(named(name), f"atomic:{form}", f"atomic:{name}:{dtype}")


def _target(ctx: Context, dtype: str, rank: int) -> tuple[str, Value]:
    dims = [str(ctx.pick([1, 3, 8, 13])) for _ in range(rank)]
    kind = "units" if dtype in FLOATS else "small"
    tensor = ctx.tensor("A", dtype, dims, kind, written=True)
    return tensor.name, tensor.element


def _summable(ctx: Context, name: str, value: Value, start: Value, times: int) -> None:
    """Demand that any order of the updates gives the same bits."""
    if value.special or value.error:
        raise Unfit
    if name != "atomic_add" or value.dtype in INTEGERS:
        return
    grain = value.grain
    most = start.magnitude + times * value.magnitude
    if (
        grain is None
        or most > min(grain, 1.0) * 2.0 ** {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}[value.dtype]
    ):
        raise Unfit


def _ctas(ctx: Context) -> int:
    return ctx.grid[0] * ctx.grid[1] * ctx.grid[2]


def _scattered(ctx: Context, name: str, dtype: str) -> None:
    """Every active thread at an index that depends on data; some lie outside."""
    rank = ctx.pick([1, 1, 2])
    target, start = _target(ctx, dtype, rank)
    guard = condition(ctx, LANE) if ctx.chance(0.5) else None
    if guard is None:
        _scatter(ctx, name, (target, start), rank)
        return
    with ctx.block(f"if {guard.text}", guard.level):
        _scatter(ctx, name, (target, start), rank)


def _scatter(ctx: Context, name: str, target: tuple[str, Value], rank: int) -> None:
    tensor, start = target
    value = draw(ctx, Want(start.dtype, (), 1, LANE), exact=True)
    _summable(ctx, name, value, start, _ctas(ctx) * ctx.threads)
    drawn = [draw(ctx, Want("i32", (), 1, LANE)) for _ in range(rank)]
    indices = ", ".join(f"({index.operand} & 15) - 1" for index in drawn)
    ctx.emit(f"{name}({tensor}, {indices}, {value.text})")


def _tile(ctx: Context, name: str, dtype: str) -> None:
    """A tile added at a place that CTAs share."""
    rank = ctx.pick([1, 2])
    target, start = _target(ctx, dtype, rank)
    shape = tuple(ctx.pick([1, 2, 4, 8, 9]) for _ in range(ctx.pick([rank, 1])))
    value = draw(ctx, Want(dtype, shape, 2, CTA), exact=True)
    _summable(ctx, name, value, start, _ctas(ctx))
    indices = ", ".join(
        ctx.pick(["0", "-1", "2", "ctx.block.x", "ctx.block.y * 2"]) for _ in range(rank)
    )
    ctx.emit(f"{name}({target}, {indices}, {value.text})")


def counted(ctx: Context) -> None:
    """An integer atomic wherever it stands, loops and branches included."""
    name = ctx.pick(["atomic_add", "atomic_max", "atomic_min"])
    dtype = ctx.pick(["i32", "i64"])
    target, _ = _target(ctx, dtype, 1)
    value = draw(ctx, Want(dtype, (), 1, LANE))
    index = draw(ctx, Want("i32", (), 1, LANE))
    ctx.emit(f"{name}({target}, {index.operand} & 15, {value.text})")
    ctx.mark(named(name), "atomic:nested")


def _old(ctx: Context, name: str, dtype: str) -> None:
    """The value that an element had before its own thread's atomic."""
    place = new_point(ctx, dtype, LANE)
    value = draw(ctx, Want(dtype, (), 1, LANE), exact=True)
    indices = place.text.split("[", 1)[1][:-1]
    old = ctx.fresh("old")
    ctx.emit(f"let {old} = {name}({place.tensor.name}, {indices}, {value.text})")
    before = place.content
    ctx.bind(replace(before, text=old, level=LANE, shape=(), atom=True))
    if dtype in FLOATS:
        both = rules.binary("+", replace(before, level=LANE), value, dtype)
        place.tensor.tolerance = both.error
    tried(ctx, lambda: final(ctx, []))


def _compare(ctx: Context, name: str, dtype: str) -> None:
    """A compare-and-swap of every thread on its own element."""
    place = new_point(ctx, dtype, LANE)
    expected = draw(ctx, Want(dtype, (), 1, LANE))
    new = draw(ctx, Want(dtype, (), 1, LANE))
    indices = place.text.split("[", 1)[1][:-1]
    old = ctx.fresh("old")
    ctx.emit(f"let {old} = {name}({place.tensor.name}, {indices}, {expected.text}, {new.text})")
    ctx.bind(replace(place.content, text=old, level=LANE, shape=(), atom=True))
    tried(ctx, lambda: final(ctx, []))
