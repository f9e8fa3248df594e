"""Values for `@autotune` names that nobody set or tuned, chosen for a call's extents.

Note [Defaults]
Which role a name plays is found by checking the kernel with another of its values and looking at
what changed: the step of a grid axis (the name sizes the tile that a CTA owns) or nothing there
(a slice of a loop). Values that divide the extents that `@aligned` promises come first. Then:

* a grid name takes the largest value up to 128 (2048 where it is the only one, as in elementwise
  kernels) that is not wider than the extent needs; while the grid has fewer CTAs than the target
  has SMs, the widest of them steps down;
* two grid names of a kernel with dots are chosen together instead, see Note [Tile shapes];
* any other name takes its smallest value from 8 up: measured best for the k slice of an f32 GEMM.

Without extents every name takes its first value. A tuning record, where there is one, beats all this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from phobos_nb.compilation.tile_shape import choose_tile, dot_shapes
from phobos_nb.contract import GridTerm
from phobos_nb.diagnostics import PhobosError
from phobos_nb.language.typed import TypedKernel
from phobos_nb.lower.choices import CHOICES
from phobos_nb.target import Target

WIDEST_TILE = 128
WIDEST_LINE = 2048
SMALLEST_SLICE = 8
SMS_WITHOUT_CARD = 108
TILE_SIDES = 2

Typed = Callable[[Mapping[str, int]], TypedKernel]
"""The kernel checked with these constants, the rest at their first values."""


@dataclass(frozen=True)
class Role:
    """What a tuning name does. extents: (symbol, multiple per unit) of grid axes it steps along.

    promises: symbols of which it is promised to be a divisor.
    """

    name: str
    values: tuple[int, ...]
    extents: tuple[GridTerm, ...]
    promises: tuple[str, ...]


def choose_constants(
    typed: Typed, fixed: Mapping[str, int], extents: Mapping[str, int], target: Target
) -> dict[str, int]:
    """Values for every tuning name that `fixed` does not set, see Note [Defaults]."""
    base = typed(fixed)
    roles = [_role(typed, base, fixed, n) for n in base.space if n not in fixed]
    widest = WIDEST_LINE if sum(bool(r.extents) for r in roles) == 1 else WIDEST_TILE
    chosen = {r.name: _start(r, extents, widest) for r in roles}
    sides = [r for r in roles if r.extents]
    if len(sides) == TILE_SIDES and not base.grid.problem and dot_shapes(base):
        others = {**fixed, **{n: v for n, v in chosen.items() if n not in [r.name for r in sides]}}
        values = {r.name: _fitting(r, extents) for r in sides}
        slices = {r.name: _slices(r, extents) for r in roles if not r.extents}
        if any(_thin(r, extents) for r in sides):  # bytes decide then, so how much a slice brings
            values |= slices
        best = choose_tile(typed, others, values, slices, extents, target, sms_of(target))
        return chosen | {
            n: v for n, v in best.items() if n in chosen or (n in CHOICES and n not in fixed)
        }
    _fill_the_gpu(roles, chosen, extents, sms_of(target))
    return chosen


def _thin(role: Role, extents: Mapping[str, int]) -> bool:
    """Whether the call needs less than half of the smallest tile."""
    return all(2 * _size(term, extents) <= role.values[0] for term in role.extents)


def _slices(role: Role, extents: Mapping[str, int]) -> list[int]:
    """The values of a slice from `SMALLEST_SLICE` up."""
    allowed = _allowed(role, extents)
    return [v for v in allowed if v >= SMALLEST_SLICE] or allowed[-1:]


def sms_of(target: Target) -> int:
    """SMs of the largest card of a target."""
    return max((card.sms for card in target.cards), default=SMS_WITHOUT_CARD)


def _role(typed: Typed, base: TypedKernel, fixed: Mapping[str, int], name: str) -> Role:
    values = tuple(sorted(base.space[name]))
    now = base.constants[name]
    other = next((v for v in reversed(values) if v != now), None)
    if other is None:
        return Role(name, values, (), ())
    try:
        changed = typed({**fixed, name: other})
    except PhobosError:  # that value alone does not fit the others: no role can be seen
        return Role(name, values, (), ())
    steps = tuple(
        GridTerm(before.extent, before.step // now or 1)
        for axis, axis_changed in zip(base.grid.axes, changed.grid.axes, strict=True)
        for before, after in zip(axis, axis_changed, strict=False)
        if before.step != after.step
    )
    promises = tuple(s for s, m in base.promises.items() if changed.promises.get(s) != m)
    return Role(name, values, steps, promises)


def _start(role: Role, extents: Mapping[str, int], widest: int) -> int:
    """The value before the grid is looked at."""
    values = _allowed(role, extents)
    if not role.extents:
        return next((v for v in values if v >= SMALLEST_SLICE), values[-1])
    wide = [v for v in _fitting(role, extents) if v <= widest]
    return wide[-1] if wide else values[0]


def _fitting(role: Role, extents: Mapping[str, int]) -> list[int]:
    """The allowed values that are not wider than the extent needs, the smallest among them always."""
    values = _allowed(role, extents)
    needed = max(_size(term, extents) for term in role.extents)
    return [v for v in values if v == values[0] or v < 2 * needed]


def _allowed(role: Role, extents: Mapping[str, int]) -> list[int]:
    """The values that keep the promises, or all where none does (the launch check then tells)."""
    kept = [v for v in role.values if all(extents.get(s, 0) % v == 0 for s in role.promises)]
    return kept or list(role.values)


def _size(term: GridTerm, extents: Mapping[str, int]) -> int:
    extent = term.extent if isinstance(term.extent, int) else extents.get(term.extent, 0)
    return -(-extent // term.step)


def _fill_the_gpu(
    roles: list[Role], chosen: dict[str, int], extents: Mapping[str, int], sms: int
) -> None:
    """Step the widest grid name down while CTAs are fewer than SMs."""
    grid_roles = [r for r in roles if r.extents]
    while _blocks(grid_roles, chosen, extents) < sms:
        smaller = [(chosen[r.name], v, r.name) for r in grid_roles if (v := _below(r, chosen, extents))]
        if not smaller:
            return
        _, value, name = max(smaller)
        chosen[name] = value


def _below(role: Role, chosen: Mapping[str, int], extents: Mapping[str, int]) -> int | None:
    lower = [v for v in _allowed(role, extents) if v < chosen[role.name]]
    return lower[-1] if lower else None


def _blocks(roles: list[Role], chosen: Mapping[str, int], extents: Mapping[str, int]) -> int:
    product = 1
    for role in roles:
        for term in role.extents:
            product *= -(-_size(term, extents) // chosen[role.name])
    return product
