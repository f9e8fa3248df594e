"""Drawing an expression of a wanted type and shape from the ways of the language to write one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.fuzz.context import Context
from tests.fuzz.values import CTA, FLOATS, INTEGERS, Shape, Unfit, Value


@dataclass(frozen=True)
class Want:
    """What expression is wanted; `depth` bounds its size, `level` who may differ in a scalar."""

    dtype: str
    shape: Shape = ()
    depth: int = 2
    level: int = CTA

    @property
    def is_float(self) -> bool:
        """Whether a float is wanted."""
        return self.dtype in FLOATS

    @property
    def is_integer(self) -> bool:
        """Whether an integer or index is wanted."""
        return self.dtype in INTEGERS or self.dtype == "index"

    @property
    def is_number(self) -> bool:
        """Whether a number is wanted."""
        return self.dtype != "bool"

    def smaller(self, dtype: str | None = None, shape: Shape | None = None) -> Want:
        """A part of this expression."""
        return Want(
            dtype or self.dtype, self.shape if shape is None else shape, self.depth - 1, self.level
        )


Maker = Callable[[Context, Want], Value]
Fits = Callable[[Want], bool]


@dataclass(frozen=True)
class Option:
    """A way to write an expression, for the wants that it fits; leaves need no depth."""

    make: Maker
    fits: Fits
    weight: float
    leaf: bool


OPTIONS: list[Option] = []


def option(weight: float, fits: Fits, *, leaf: bool = False) -> Callable[[Maker], Maker]:
    """Register a way to write expressions."""

    def register(make: Maker) -> Maker:
        OPTIONS.append(Option(make, fits, weight, leaf))
        return make

    return register


def draw(ctx: Context, want: Want, *, exact: bool = False) -> Value:
    """An expression as wanted. exact: one whose bits every right implementation agrees on."""
    for attempt in range(20):
        marks, lines = len(ctx.marks), len(ctx.lines)
        try:
            found = _draw(ctx, replace(want, depth=0) if attempt > 12 else want)
            if found.shape != want.shape or found.dtype != want.dtype or found.level > want.level:
                raise Unfit
            if exact and found.error:
                raise Unfit
            return found
        except Unfit:
            del ctx.marks[marks:]
            assert len(ctx.lines) == lines, "an expression emitted statements"
    raise Unfit


def _draw(ctx: Context, want: Want) -> Value:
    fitting = [(o.weight, o) for o in OPTIONS if o.fits(want) and (o.leaf or want.depth > 0)]
    if not fitting:
        raise Unfit
    return ctx.weighted(fitting).make(ctx, want)
