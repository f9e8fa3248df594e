"""Counted work of a typed kernel: multiply-adds, bytes asked of memory, per CTA and in all.

Counts follow the text: each loop's trips from its bounds, each tile read, store and dot once per trip.
Branches count both sides. What depends on data (a `while`, a bound from memory) counts one trip.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from phobos_nb.language.dots import is_dot
from phobos_nb.language.typed import (
    Binary,
    Break,
    Call,
    Constant,
    Continue,
    Convert,
    Expr,
    Extent,
    For,
    If,
    Return,
    Statement,
    StoreTile,
    TileRead,
    TypedKernel,
    While,
)
from phobos_nb.language.types import TileType
from phobos_nb.language.walk import blocks, expressions, statements


@dataclass(frozen=True)
class Work:
    """Of one CTA. flops: of dots, two per multiply-add; elementwise ones: per element of a tile.

    read, written: bytes of global boxes. staged: bytes of dot operands that pass through shared memory.
    """

    flops: float = 0.0
    elementwise: float = 0.0
    read: float = 0.0
    written: float = 0.0
    staged: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(
            self.flops + other.flops,
            self.elementwise + other.elementwise,
            self.read + other.read,
            self.written + other.written,
            self.staged + other.staged,
        )

    def times(self, count: float) -> Work:
        """The same done several times."""
        return Work(
            self.flops * count,
            self.elementwise * count,
            self.read * count,
            self.written * count,
            self.staged * count,
        )


def work_of(typed: TypedKernel, extents: Mapping[str, int]) -> Work:
    """The work of a CTA that lies inside all tensors, for given extents."""
    return _block(typed.body, extents)


def dots_are_certain(typed: TypedKernel, extents: Mapping[str, int]) -> bool:
    """Whether dots run exactly as often as `work_of` counts: no branch, data or early end decides."""
    if not any(_has_dot(s) for s in statements(typed.body)):
        return True
    if any(isinstance(s, Return | Break | Continue) for s in statements(typed.body)):
        return False
    uncertain = (
        s
        for s in statements(typed.body)
        if isinstance(s, If | While) or (isinstance(s, For) and _known_trips(s, extents) is None)
    )
    return not any(_has_dot(s) for u in uncertain for b in blocks(u) for s in statements(b))


def _has_dot(statement: Statement) -> bool:
    return any(map(is_dot, expressions(statement)))


def _block(body: tuple[Statement, ...], extents: Mapping[str, int]) -> Work:
    return sum((_statement(s, extents) for s in body), Work())


def _statement(statement: Statement, extents: Mapping[str, int]) -> Work:
    own = sum((_expression(e) for e in expressions(statement)), Work())
    if isinstance(statement, StoreTile):
        tile = statement.region
        own += Work(written=math.prod(tile.shape) * tile.tensor.type.dtype.itemsize)
    inside = sum((_block(b, extents) for b in blocks(statement)), Work())
    trips = _trips(statement, extents) if isinstance(statement, For) else 1.0
    return own + inside.times(trips)


def _expression(expr: Expr) -> Work:
    if isinstance(expr, TileRead):
        region = expr.region
        return Work(read=math.prod(region.shape) * region.tensor.type.dtype.itemsize)
    if is_dot(expr):
        return _dot(expr)
    if isinstance(expr, Binary | Call) and isinstance(expr.type, TileType):
        return Work(elementwise=math.prod(expr.type.shape))
    return Work()


def _dot(call: Call) -> Work:
    tiles = [a.type for a in call.arguments if isinstance(a, Expr) and isinstance(a.type, TileType)]
    rows, depth = tiles[0].shape[-2:]
    columns = math.prod(call.type.shape) // rows if isinstance(call.type, TileType) else 1
    staged = sum(math.prod(t.shape) * t.dtype.itemsize for t in tiles[:2])
    return Work(flops=2.0 * rows * columns * depth, staged=staged)


def _trips(loop: For, extents: Mapping[str, int]) -> float:
    found = _known_trips(loop, extents)
    return 1.0 if found is None else found


def _known_trips(loop: For, extents: Mapping[str, int]) -> float | None:
    """None where a bound is not made of constants and extents."""
    start, stop, step = (bound_of(e, extents) for e in (loop.start, loop.stop, loop.step))
    if start is None or stop is None or not step:
        return None
    return float(max(0, math.ceil((stop - start) / step)))


def bound_of(expr: Expr, extents: Mapping[str, int]) -> int | None:
    """The value of a bound made of constants and extents; None where it depends on more."""
    match expr:
        case Constant(value=value):
            return int(value)
        case Extent():
            return extents.get(expr.symbol)
        case Convert(operand=operand):
            return bound_of(operand, extents)
        case Binary(left=left, right=right):
            a, b = bound_of(left, extents), bound_of(right, extents)
            return None if a is None or b is None else _apply(expr.op, a, b)
        case _:
            return None


def _apply(op: str, a: int, b: int) -> int | None:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" | "//":
            return a // b if b else None
        case "%":
            return a % b if b else None
        case _:
            return None
