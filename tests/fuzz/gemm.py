"""Matrix products as they are written for speed: slices, tensor cores, pipelines, epilogues."""

from __future__ import annotations

from dataclasses import replace

from tests.fuzz import rules
from tests.fuzz.context import Context, TensorSpec
from tests.fuzz.draw import Want, draw
from tests.fuzz.stores import new_tile, store
from tests.fuzz.values import CTA, SIGNIFICAND, Unfit, Value

OPERANDS = ("f16", "bf16", "f32", "f16", "bf16", "f32", "i8", "u8", "i32", "f64")


def section(ctx: Context) -> None:
    """C = epilogue(A @ B), summed over slices of a run-time extent, exact in any order."""
    rows, columns = ctx.pick([16, 32, 48, 64]), ctx.pick([16, 32, 64, 8])
    step = ctx.pick([8, 16, 16, 32])
    operand = ctx.pick(OPERANDS)
    sums = {"f64": "f64", "i8": "i32", "u8": "i32", "i32": "i32"}.get(operand, "f32")
    extent = ctx.rng.randrange(1, 4) * step - (ctx.rng.randrange(step) if ctx.chance(0.6) else 0)
    name = f"N{len(ctx.symbols)}"
    ctx.symbols[name] = extent
    transposed = ctx.chance(0.4)
    left, right = _operands(ctx, operand, name, (rows, columns), transposed)
    declared = "f16" if sums == "f32" and ctx.chance(0.35) else sums
    acc = _loop(ctx, (left, right), name, (rows, columns, step), transposed, declared)
    total = rules.product("", left.element, right.element, extent, (rows, columns), sums)
    if total.error or (declared == "f16" and not _fits(total, "f16")):
        raise Unfit
    summed = replace(total, text=acc, dtype=declared, atom=True)
    _attributes(ctx)
    ctx.mark("gemm", f"gemm:{operand}:{declared}", f"gemm:{'dot_t' if transposed else 'dot'}")
    ctx.bind(summed)
    _epilogue(ctx, summed)


def _fits(value: Value, dtype: str) -> bool:
    return value.grain is not None and value.magnitude <= value.grain * 2.0 ** SIGNIFICAND[dtype]


def _operands(
    ctx: Context, dtype: str, depth: str, sides: tuple[int, int], transposed: bool
) -> tuple[TensorSpec, TensorSpec]:
    kind = "small" if dtype in ("i8", "u8", "i32") else ctx.pick(["units", "quarters"])
    first = _side(ctx, sides[0], ctx.grid[0])
    second = _side(ctx, sides[1], ctx.grid[1])
    left = ctx.tensor("X", dtype, [first, depth], kind)
    right = ctx.tensor("X", dtype, [second, depth] if transposed else [depth, second], kind)
    return left, right


def _side(ctx: Context, step: int, blocks: int) -> str:
    name = f"N{len(ctx.symbols)}"
    ctx.symbols[name] = blocks * step - (ctx.rng.randrange(step) if ctx.chance(0.6) else 0)
    return name


def _loop(
    ctx: Context,
    tensors: tuple[TensorSpec, TensorSpec],
    depth: str,
    shape: tuple[int, int, int],
    transposed: bool,
    dtype: str,
) -> str:
    rows, columns, step = shape
    acc, k, a, b = (ctx.fresh(stem) for stem in ("acc", "k", "a", "b"))
    across = f"ctx.block.y * {columns} :+ {columns}"
    zero = "0" if dtype == "i32" else "0.0"
    keyword = ctx.pick(["let", "var", "var"])
    ctx.emit(f"var {acc}: tile<{dtype}>[{rows}, {columns}] = {zero}")
    with ctx.block(f"for {k} in range(0, {depth}, {step})"):
        along = f"{k} :+ {step}"
        ctx.emit(f"{keyword} {a} = {tensors[0].name}[ctx.block.x * {rows} :+ {rows}, {along}]")
        inside = f"{across}, {along}" if transposed else f"{along}, {across}"
        ctx.emit(f"{keyword} {b} = {tensors[1].name}[{inside}]")
        ctx.emit(f"{acc} += {'dot_t' if transposed else 'dot'}({a}, {b})")
    return acc


def _attributes(ctx: Context) -> None:
    if ctx.chance(0.6):
        path = ctx.pick(["", "(wmma)", "(sync)", "(wgmma)"])
        ctx.attributes.add(f"@tensorcore{path}")
    if ctx.chance(0.3):
        ctx.attributes.add(ctx.pick(["@pipeline", "@pipeline(2)", "@pipeline(3)", "@pipeline(4)"]))


def _epilogue(ctx: Context, summed: Value) -> None:
    """The sums as they are, or part of an expression."""
    dtype = ctx.pick([summed.dtype, "f16", "bf16", "f32", "i32"])
    place = new_tile(ctx, dtype, summed.shape)
    value = summed
    if ctx.chance(0.5):
        other = draw(ctx, Want(summed.dtype, ctx.pick([summed.shape, (), (1, summed.shape[1])]), 1, CTA))
        value = rules.binary(ctx.pick("+-*"), summed, other, summed.dtype)
    store(ctx, place, value)
