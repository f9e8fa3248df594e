"""What can be slid: names and values of a search, then the compiler's own choices; and what refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.compilation.tile_shape import dot_shapes
from phobos_nb.diagnostics import PhobosError
from phobos_nb.lower.choices import CHOICES, K_GROUPS, SPLIT, SPREAD
from phobos_nb.lower.loop_form import ADDRESSES, GUARDS, ORDERS, RINGS
from phobos_nb.target import Target
from phobos_nb.tune.compile_job import reasons
from phobos_nb.tune.limits import broken_promise, refusal
from phobos_nb.tune.outcome import Constants
from phobos_nb.tune.space import space_of

AUTO = None
"""The first place of a slider of the compiler's own choices: the compiler decides."""

Value = int | None

NAMED: Mapping[str, tuple[str, ...]] = {
    "ORDER": ORDERS,
    "ADDRESS": ADDRESSES,
    "GUARD": GUARDS,
    "RING": RINGS,
}
"""Choices whose numbers stand for names."""

OWN_VALUES: Mapping[str, tuple[int, ...]] = {
    "THREAD_M": (1, 2, 4, 8, 16),
    "THREAD_N": (1, 2, 4, 8, 16),
    "WARPS_M": (1, 2, 4, 8),
    "LANES_M": (1, 2, 4, 8, 16, 32),
    "STAGES": (1, 2, 3, 4, 5),
    "SLICES": (1, 2, 3, 4),
    "UNROLL_K": (1, 2, 4, 8, 16),
    "PAD_A": (0, 1, 2, 4, 8),
    "PAD_B": (0, 1, 2, 4, 8),
    "GROUP": (0, 1, 2, 4, 8, 16),
    "MIN_BLOCKS": (1, 2, 3, 4),
    "DIRECT": (0, 1),
    SPLIT: (1, 2, 4, 8, 16),
    K_GROUPS: (1, 2, 4, 8),
    SPREAD: (0, 1),
    **{name: tuple(range(len(values))) for name, values in NAMED.items()},
}
"""The places of the compiler's own choices where the caller gives none; each after `AUTO`.

What follows from a call's extents (`choices.BY_EXTENTS`) is no choice.
"""


@dataclass(frozen=True)
class Parameter:
    """One slider. own: a choice of the compiler's own, whose first value is `AUTO`. meaning: its tip."""

    name: str
    values: tuple[Value, ...]
    own: bool = False
    meaning: str = ""

    def label(self, value: Value) -> str:
        """How a value is named."""
        if value is None:
            return "auto"
        return NAMED[self.name][value] if self.name in NAMED else f"{value}"


def parameters(
    kernel: Kernel, choices: Mapping[str, int | Sequence[int]], start: Constants
) -> tuple[Parameter, ...]:
    """The sliders of a kernel, those of a search first.

    choices: as of `space_of`; a name of the compiler's own given there is slid over the given values,
    after `AUTO`. start: the constants at first, which every slider can show. Raises as `space_of` does.
    """
    own = {n: v for n, v in choices.items() if n in CHOICES}
    space = space_of(kernel, choices)
    searched = {n: v for n, v in space.values.items() if n not in own}
    found = [Parameter(n, _with(v, start.get(n))) for n, v in searched.items()]
    places = {n: space.values[n] for n in own} or (OWN_VALUES if _has_dots(kernel) else {})
    fixed = kernel.options.constants
    found += [
        Parameter(n, (AUTO, *_with(v, start.get(n))), own=True, meaning=CHOICES[n])
        for n, v in places.items()
        if n not in fixed
    ]
    return tuple(found)


def _with(values: tuple[int, ...], start: int | None) -> tuple[int, ...]:
    """The values, and the one to start with where the compiler chose another."""
    return values if start is None or start in values else tuple(sorted((*values, start)))


def _has_dots(kernel: Kernel) -> bool:
    """Whether the compiler makes choices of its own: they are about dots."""
    return bool(dot_shapes(kernel.typed(kernel.options.constants)))


def why_not(kernel: Kernel, constants: Constants, extents: Mapping[str, int], target: Target) -> str:
    """Why a search would refuse a configuration before it is lowered; empty if it would not."""
    try:
        typed = kernel.typed({**kernel.options.constants, **constants})
    except PhobosError as error:
        return reasons(error)
    return broken_promise(typed, extents) or refusal(typed, target)
