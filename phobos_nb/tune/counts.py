"""What a CTA does, counted in the text of a typed kernel, as far as a model of its time needs it.

A loop whose bounds depend on data (a sequence's start and end, a causal limit) counts as if it ran over
the call's largest extent: its step is what configurations differ in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from phobos_nb.compilation.tile_shape import dot_shape
from phobos_nb.language.dots import is_dot
from phobos_nb.language.typed import (
    Binary,
    Call,
    Expr,
    For,
    Statement,
    StoreTile,
    TileRead,
    TypedKernel,
)
from phobos_nb.language.types import TileType
from phobos_nb.language.walk import blocks, expressions
from phobos_nb.lower.gemm_plan import estimate
from phobos_nb.target import Target
from phobos_nb.tune.work import bound_of

ROWS = ("rowsum", "rowmax", "rowmin", "rowargmax")
COLUMNS = ("colsum", "colmax", "colmin", "cumsum")

OTHER_REGISTERS = 32
"""Registers of a thread beside tiles: addresses, counters, values under way."""

LIVE_TILES = 1.5
"""Tiles of the largest size that are alive at once, the second one in part."""

DOT_REGISTERS = 22
"""Registers of a thread beside those of its dots, as `lower/gemm_plan.OTHER_REGISTERS`."""


@dataclass(frozen=True)
class Counts:
    """Of one CTA. dots: clocks of a full SM for them. elements: results of elementwise operations.

    moved, stored: bytes of global boxes, stored alone. rounds: loop bodies run, one after the other.
    reductions, crossing: of rows or columns, and those among them for which warps must exchange values.
    registers: of a thread, estimated.
    """

    dots: float = 0.0
    elements: float = 0.0
    moved: float = 0.0
    stored: float = 0.0
    rounds: float = 0.0
    reductions: float = 0.0
    crossing: float = 0.0
    registers: float = OTHER_REGISTERS

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.dots + other.dots,
            self.elements + other.elements,
            self.moved + other.moved,
            self.stored + other.stored,
            self.rounds + other.rounds,
            self.reductions + other.reductions,
            self.crossing + other.crossing,
            max(self.registers, other.registers),
        )

    def times(self, count: float) -> Counts:
        """The same done several times, one after the other."""
        return Counts(
            self.dots * count,
            self.elements * count,
            self.moved * count,
            self.stored * count,
            self.rounds * count,
            self.reductions * count,
            self.crossing * count,
            self.registers,
        )


def counts_of(typed: TypedKernel, extents: Mapping[str, int], target: Target) -> Counts:
    """The counts of a CTA that lies inside all tensors."""
    return _Counter(typed.threads, extents, target).block(typed.body)


@dataclass(frozen=True)
class _Counter:
    threads: int
    extents: Mapping[str, int]
    target: Target

    def block(self, body: tuple[Statement, ...]) -> Counts:
        return sum((self.statement(s) for s in body), Counts())

    def statement(self, statement: Statement) -> Counts:
        own = sum((c for e in expressions(statement) for c in self.expression(e)), Counts())
        if isinstance(statement, StoreTile):
            region = statement.region
            size = math.prod(region.shape) * region.tensor.type.dtype.itemsize
            own += Counts(moved=size, stored=size)
        inside = sum((self.block(b) for b in blocks(statement)), Counts())
        if not isinstance(statement, For):
            return own + inside
        return own + (inside + Counts(rounds=1)).times(self.trips(statement))

    def expression(self, expr: Expr) -> Iterator[Counts]:
        if isinstance(expr, TileRead):
            region = expr.region
            yield Counts(moved=math.prod(region.shape) * region.tensor.type.dtype.itemsize)
        elif is_dot(expr):
            yield self.dot(expr)
        elif isinstance(expr, Binary | Call) and isinstance(expr.type, TileType):
            size = math.prod(expr.type.shape)
            registers = OTHER_REGISTERS + LIVE_TILES * size / self.threads
            yield Counts(elements=size, registers=registers)
        if isinstance(expr, Call) and expr.builtin in (*ROWS, *COLUMNS):
            yield self.reduction(expr)

    def dot(self, call: Call) -> Counts:
        shape = dot_shape(call)
        step = estimate([shape], self.threads, self.target, narrow=False)
        return Counts(dots=shape.depth * step.cycles, registers=step.registers + DOT_REGISTERS)

    def reduction(self, call: Call) -> Counts:
        """Fewer rows (or columns) than warps: several warps share one, and meet in shared memory."""
        operand = call.arguments[0].type
        if not isinstance(operand, TileType):
            return Counts()
        lines = operand.shape[0] if call.builtin in ROWS else operand.shape[-1]
        crosses = lines < self.threads // self.target.warp_size
        return Counts(reductions=1, crossing=float(crosses))

    def trips(self, loop: For) -> float:
        start, stop, step = (bound_of(e, self.extents) for e in (loop.start, loop.stop, loop.step))
        if not step:
            return 1.0
        if start is None or stop is None:
            return float(max(1, math.ceil(max(self.extents.values(), default=1) / step)))
        return float(max(0, math.ceil((stop - start) / step)))
