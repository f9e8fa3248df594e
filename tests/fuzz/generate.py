"""A kernel text with arrays, scalars, grid and configuration, all decided by one seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fuzz import calls, functions, gemm, lanes, leaves, operators, threads, tiles, whole
from tests.fuzz.arrays import NUMPY, ArrayRecipe
from tests.fuzz.context import Context
from tests.fuzz.statements import tried
from tests.fuzz.values import DTYPES, FLOATS

WAYS = (leaves, operators, calls, lanes, functions)
"""Modules whose import registers ways to write an expression."""

INERT = (
    "registers",
    "dynshared",
    "swizzle",
    "padstage",
    "persistent",
    "fast_math",
    "readonly",
    "assert_coalesced",
)


@dataclass(frozen=True)
class Program:
    """One generated call. tolerances: of every written tensor, absolute. grid: None where inferred.

    dtypes: what the arrays make of the kernel's dtype parameters.
    """

    seed: int
    text: str
    arrays: Mapping[str, ArrayRecipe]
    scalars: Mapping[str, tuple[str, float | int | bool]]
    order: tuple[str, ...]
    grid: tuple[int, int, int] | None
    constants: Mapping[str, int]
    tolerances: Mapping[str, float]
    dtypes: Mapping[str, str]
    features: Counter[str] = field(compare=False)

    def arguments(self) -> dict[str, Any]:
        """Fresh arrays and the scalars, in the order of the signature."""
        made: dict[str, Any] = {name: recipe.make() for name, recipe in self.arrays.items()}
        made |= {n: NUMPY[d](v) for n, (d, v) in self.scalars.items()}
        return {name: made[name] for name in self.order}


def generate(seed: int) -> Program:
    """The program of a seed; the same one in every process."""
    attempt = 0
    while True:
        rng = random.Random(f"{seed}/{attempt}")
        ctx = _context(rng)
        _sections(ctx)
        if any(t.written for t in ctx.tensors):
            return _program(ctx, seed)
        attempt += 1


def _context(rng: random.Random) -> Context:
    ctx = Context(rng)
    ctx.threads = ctx.pick([32, 64, 64, 96, 128, 256])
    ctx.axes = ctx.pick([1, 2, 2])
    grids = [(1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1), (1, 2, 1), (2, 1, 2), (1, 3, 1), (2, 2, 2)]
    ctx.grid = ctx.pick(grids)
    ctx.steps = ctx.pick(tiles.SIDES[1:]), ctx.pick(tiles.SIDES)
    ctx.layouts = ctx.chance(0.35)
    ctx.generic = ctx.pick(DTYPES[:8]) if ctx.chance(0.4) else ""
    for name, value in (("TM", ctx.steps[0]), ("TN", ctx.steps[1]), ("D", ctx.pick([4, 8, 16]))):
        if ctx.chance(0.6):
            ctx.constants[name] = value
    ctx.mark(f"threads:{ctx.threads}", f"grid axes:{sum(n > 1 for n in ctx.grid)}")
    return ctx


def _sections(ctx: Context) -> None:
    """The body: sections of several kinds, and at the end sometimes a `return`."""
    kinds: list[tuple[float, Callable[[Context], None]]] = [
        (6, tiles.section),
        (4, threads.section),
        (1, threads.shared),
        (0.5, threads.tree),
        (2.5, threads.atomic),
        (1, whole.section),
    ]
    if ctx.chance(0.12) and tried(ctx, lambda: gemm.section(ctx)):
        ctx.mark("section:gemm.section")
        return
    if ctx.chance(0.1):
        tried(ctx, lambda: threads.leave_together(ctx))
    for _ in range(ctx.weighted([(4, 1), (3, 2), (1, 3)])):
        section = ctx.weighted(kinds)
        tried(ctx, lambda section=section: section(ctx))
        ctx.mark(f"section:{section.__module__.rpartition('.')[2]}.{section.__name__}")
    if ctx.chance(0.15):
        tried(ctx, lambda: threads.leave(ctx))


# Around the body ---------------------------------------------------------------------------------


def _program(ctx: Context, seed: int) -> Program:
    parameters = [(t.name, f"tensor<{ctx.spell(t.dtype)}>[{', '.join(t.dims)}]") for t in ctx.tensors]
    parameters += [(name, ctx.spell(dtype)) for name, (dtype, _) in ctx.scalars.items()]
    ctx.rng.shuffle(parameters)
    generics, tuned, constants = _compile_time(ctx, parameters)
    head = f"kernel k{generics}({', '.join(f'{n}: {t}' for n, t in parameters)})"
    parts = [*ctx.functions, *_attributes(ctx, tuned), head + " {", *ctx.lines, "}"]
    inferred = _can_infer(ctx)
    ctx.mark("grid:inferred" if inferred else "grid:given")
    return Program(
        seed,
        "\n".join(parts) + "\n",
        {t.name: t.recipe for t in ctx.tensors},
        dict(ctx.scalars),
        tuple(n for n, _ in parameters),
        None if inferred else ctx.grid,
        constants,
        {t.name: t.tolerance for t in ctx.tensors if t.written},
        {"T": ctx.generic} if ctx.generic else {},
        Counter(set(ctx.marks)),
    )


def _compile_time(
    ctx: Context, parameters: list[tuple[str, str]]
) -> tuple[str, list[str], dict[str, int]]:
    """Generics, tuning parameters, and the values that the call must set."""
    generics, tuned, constants = [], [], {}
    if ctx.generic:
        inferred = any("tensor<T>" in kind for _, kind in parameters)
        is_open = inferred and ctx.chance(0.5)
        generics.append("T: dtype" if is_open else f"T: dtype = {ctx.generic}")
        ctx.mark("generic:inferred dtype" if is_open else "generic:default dtype")
        ctx.mark("generic:dtype")
    for name, value in ctx.constants.items():
        form = ctx.pick(["generic", "set", "tuned", "list", "bounds"])
        ctx.mark(f"constant:{form}")
        if form in ("generic", "set"):
            other = value if form == "generic" else value + 1
            generics.append(f"{name}: int = {other}")
        else:
            values = {"tuned": f"{value}", "list": f"{value}, 1, 2", "bounds": f"{value}, {4 * value}"}
            tuned.append(f"{name} in [{values[form]}]")
        constants[name] = value
    if ctx.chance(0.3):
        _dead_branch(ctx, generics)
    return f"<{', '.join(generics)}>" if generics else "", tuned, constants


def _dead_branch(ctx: Context, generics: list[str]) -> None:
    """A branch on a constant whose other side would not pass the checker."""
    flag = ctx.chance(0.5)
    generics.append(f"FLAG: bool = {'true' if flag else 'false'}")
    test = "FLAG" if not flag else "!FLAG"
    ctx.lines[0:0] = [f"  if {test} {{", "    let never = unknown_name + exp(1)", "  }"]
    ctx.mark("constant if", "generic:bool")


def _attributes(ctx: Context, tuned: list[str]) -> list[str]:
    launch = ctx.pick([f"{ctx.threads}", f"{ctx.threads}, 1", f"{ctx.threads}, 1, 255"])
    found = [f"@launch({launch})"]
    if tuned:
        found.append(f"@autotune({', '.join(tuned)})")
    promises = _promises(ctx)
    if promises:
        found.append(f"@aligned({', '.join(promises)})")
    found += [f"@{name}" for name in INERT if ctx.chance(0.03)]
    if ctx.chance(0.03):
        found.append("@cluster(x = 2)")
    found += sorted(ctx.attributes)
    exact = not any(m.startswith("dot:") for m in ctx.marks)
    if not ctx.attributes and exact and ctx.chance(0.05):
        found.append(f"@tensorcore{ctx.pick(['', '(wmma)', '(sync)', '(wgmma)'])}")
    ctx.mark(*(f"attribute:{a.split('(')[0]}" for a in found))
    ctx.rng.shuffle(found)
    return found


def _promises(ctx: Context) -> list[str]:
    """Promises that the call's extents keep."""
    if not ctx.chance(0.3):
        return []
    found = []
    for name, extent in ctx.extents.items():
        for multiple in (16, 8, 4, 2):
            if extent and extent % multiple == 0 and any(name in t.dims for t in ctx.tensors):
                found.append(f"{name} = {ctx.extent(multiple)}")
                break
    return found


def _can_infer(ctx: Context) -> bool:
    """Whether the grid follows from the stores as the generator planned it."""
    written = [t for t in ctx.tensors if t.written]
    only_tiles = {m for m in ctx.marks if m.startswith("section:")} == {"section:tiles.section"}
    whole = all(0 not in t.extents for t in written)
    fits = len(written) == 1 and only_tiles and whole and not ctx.uses_blocks
    return fits and _stored_by_all_axes(ctx, written[0].name) and ctx.chance(0.8)


def _stored_by_all_axes(ctx: Context, output: str) -> bool:
    """Whether every axis of `ctx.block` that is read also places the output."""
    text = "\n".join(ctx.lines)
    placed = [line.strip().partition("] ")[0] for line in ctx.lines]
    stores = "\n".join(part for part in placed if part.startswith(f"{output}["))
    places = [(f"ctx.block.{name}", f"program_id({axis})") for axis, name in enumerate("xyz")]
    return all(any(p in stores for p in pair) or not any(p in text for p in pair) for pair in places)


def is_float(dtype: str) -> bool:
    """Whether a type is a float."""
    return dtype in FLOATS
