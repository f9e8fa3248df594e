"""How far apart two index values can be, in one pass of the code or across iterations of loops."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from math import gcd

from xdsl.dialects import arith, scf
from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.fold import constant_integer
from phobos_nb.lower.index_facts import loop_of


@dataclass(frozen=True)
class Distances:
    """`start + n * by` for n = 0, 1, 2, ..., where `both_ways` also for negative n."""

    start: int
    by: int = 0
    both_ways: bool = False

    def within(self, low: int, high: int) -> list[int]:
        """Those between two numbers, both excluded, the first ones first."""
        if not self.by:
            return [self.start] if low < self.start < high else []
        if self.both_ways:
            by = abs(self.by)
            return list(range(low + 1 + (self.start - low - 1) % by, high, by))
        end = high if self.by > 0 else low
        return [d for d in range(self.start, end, self.by) if low < d < high]


@dataclass
class Linear:
    """A sum of multiples. The multiples of a loop's variable are counted in its steps."""

    constant: int = 0
    terms: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """The sum with a multiple of another."""
        terms = dict(self.terms)
        for value, times in other.terms.items():
            terms[value] = terms.get(value, 0) + factor * times
        return Linear(self.constant + factor * other.constant, {v: n for v, n in terms.items() if n})

    def split(self, values: Collection[SSAValue]) -> tuple[dict[SSAValue, int], Linear]:
        """The terms of some values, and the rest."""
        taken = {v: n for v, n in self.terms.items() if v in values}
        rest = {v: n for v, n in self.terms.items() if v not in values}
        return taken, Linear(self.constant, rest)


def distances(earlier: Linear, later: Linear, crossed: Collection[Operation]) -> Distances | None:
    """`later - earlier`, where the loops in `crossed` began anew in between; None if not known."""
    moved, first = earlier.split([v for v in earlier.terms if _varies(v, crossed)])
    moving, second = later.split([v for v in later.terms if _varies(v, crossed)])
    rest = second.plus(first, -1)
    if any(_counting_loop(v) is None for v in (*rest.terms, *moved, *moving)):
        return None
    if not rest.terms and moved == moving and len(moved) <= len(crossed) == 1:
        return _one_loop_on(rest.constant, moved, *crossed)
    steps = gcd(*rest.terms.values(), *moved.values(), *moving.values())
    return Distances(rest.constant, steps, both_ways=steps != 0)


def _one_loop_on(constant: int, moving: dict[SSAValue, int], loop: Operation) -> Distances:
    """Where one loop went on, by one iteration or more."""
    if not moving:
        return Distances(constant)
    [(value, times)] = moving.items()
    if loop_of(value) is loop:
        return Distances(constant + times, times)
    return Distances(constant, times, both_ways=True)


def _counting_loop(value: SSAValue) -> scf.ForOp | None:
    """The loop with a constant step whose variable a value is."""
    loop = loop_of(value)
    return loop if loop is not None and constant_integer(loop.step) is not None else None


def linear(value: SSAValue) -> Linear:
    """An index as a sum of multiples of values that are not sums themselves."""
    known = constant_integer(value)
    if known is not None:
        return Linear(known)
    op = value.owner
    if isinstance(op, arith.AddiOp | arith.SubiOp):
        return linear(op.lhs).plus(linear(op.rhs), 1 if isinstance(op, arith.AddiOp) else -1)
    if isinstance(op, arith.MuliOp):
        for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            times = constant_integer(other)
            if times is not None:
                return Linear().plus(linear(one), times)
    loop = _counting_loop(value)
    if loop is not None:
        step = constant_integer(loop.step)
        assert step is not None
        return linear(loop.lb).plus(Linear(0, {value: step}))
    return Linear(0, {value: 1})


def _varies(value: SSAValue, crossed: Collection[Operation]) -> bool:
    """Whether the value is another one in the next iteration of one of the loops."""
    return any(loop is not value.owner and loop.is_ancestor(value.owner) for loop in crossed)


def loops_around(op: Operation) -> list[scf.ForOp | scf.WhileOp]:
    """The loops that an op stands in, innermost first."""
    found: list[scf.ForOp | scf.WhileOp] = []
    around = op.parent_op()
    while around is not None:
        if isinstance(around, scf.ForOp | scf.WhileOp):
            found.append(around)
        around = around.parent_op()
    return found
