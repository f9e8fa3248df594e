"""`Kernel.roofline`: a call counted, timed on a GPU, and placed under the roofs of its card."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from phobos_nb.compilation.call import SolvedCall, host_values, on_device, solve
from phobos_nb.compilation.compilation import Compilation
from phobos_nb.compilation.configuration import resolve
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.lower.choices import BY_EXTENTS
from phobos_nb.target import Target, get, names
from phobos_nb.target.cards import card_of
from phobos_nb.tune.outcome import label
from phobos_nb.tune.place import Gpu, Host, Place
from phobos_nb.tune.result import Tuning
from phobos_nb.tune.snapshot import Snapshot, lay_out, take
from phobos_nb.views.roofline import Point, RooflineView, point, text, view_from_plain
from phobos_nb.views.roofline_arguments import call_values, laid_out, rooted_copies
from phobos_nb.views.roofline_count import count
from phobos_nb.views.roofline_html import page
from phobos_nb.views.roofline_roofs import Roofs, nominal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 6
"""Of a search: its fastest configurations."""

ROUNDS = 15
"""Timed calls of each point."""


@dataclass(frozen=True)
class Roofline:
    """Points of one kernel, or of several, under the roofs of one card."""

    view: RooflineView

    @property
    def model(self) -> dict[str, Any]:
        """Everything that is shown, as JSON's types."""
        return self.view.to_plain()

    @classmethod
    def from_model(cls, model: Mapping[str, Any]) -> Roofline:
        """A kept model again, without counting anything."""
        return cls(view_from_plain(model))

    @property
    def text(self) -> str:
        """The view as text."""
        return text(self.view)

    @property
    def points(self) -> tuple[Point, ...]:
        """The points."""
        return self.view.points

    def plot(self) -> Figure:
        """A matplotlib figure."""
        from phobos_nb.views.roofline_plot import plot

        return plot(self.view)

    def __add__(self, other: Roofline) -> Roofline:
        """The points of both under the roofs of the first; `ValueError` for another card's."""
        mine, theirs = self.view, other.view
        if mine.roofs.device != theirs.roofs.device:
            raise ValueError(f"points of {mine.roofs.device} and of {theirs.roofs.device}")
        title = mine.title if mine.title == theirs.title else f"{mine.title}; {theirs.title}"
        return Roofline(replace(mine, title=title, points=(*mine.points, *theirs.points)))

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return page(self.view)


def roofline(
    kernel: Kernel,
    *arguments: Any,
    grid: Any = None,
    time_us: float | None = None,
    configurations: Sequence[Mapping[str, int]] | None = None,
    tuning: Tuning | None = None,
    measured: bool | None = None,
    card: str = "",
    **named: Any,
) -> Roofline:
    """Count a call's work and bytes and place it under the roofs of a card.

    Takes the call's arguments, which stay as they are, or extents by symbol (`M=4096`). time_us: of a
    call, measured elsewhere; GPU arrays are timed here, on copies. configurations: constants of several
    points; tuning: a search whose fastest configurations are the points, with its times. measured:
    whether roofs are measured, by default on a GPU. card: a card's name, for nominal roofs. Raises what
    the call itself would raise, `PhobosError` PH405 for a card that no target lists, `ValueError` for
    arrays that are too large to simulate, and for a search of other extents than the call's.
    """
    kernel, values, _ = call_values(kernel, arguments, named)
    looked = Looked(kernel, values, grid)
    roofs = roofs_of(looked.target, measured=looked.there and not card if measured is None else measured,
                     card=card or (looked.place.name if looked.there else ""))  # fmt: skip
    wanted: list[tuple[Mapping[str, int], float | None]] = [({}, time_us)]
    if tuning is not None:
        _check_extents(tuning, looked)
        wanted = [(m.constants, m.median * 1e3) for m in tuning.measured[:MOST_POINTS]]
    elif configurations is not None:
        wanted = [(constants, None) for constants in configurations]
    points = [looked.point(constants, roofs, known) for constants, known in wanted]
    return Roofline(RooflineView(_title(looked), roofs, tuple(points)))


def _check_extents(tuning: Tuning, looked: Looked) -> None:
    searched, called = dict(tuning.record.identity.extents), dict(looked.call.extents)
    if searched != called:
        raise ValueError(f"the search was for {searched}, the call is for {called}")


class Looked:
    """One call to look at: its values, where they are, and what it compiles to."""

    def __init__(self, kernel: Kernel, values: Mapping[str, Any], grid: Any) -> None:
        self.kernel, self.grid = kernel, grid
        self._kernels: dict[str, Kernel] = {}
        self.there = on_device(kernel, values)
        self.values = dict(values) if self.there else host_values(values)
        self.place: Place = Gpu(values, kernel.parameters) if self.there else Host()
        self.target: Target = resolve(kernel.options).target
        device = self.place.name if self.there else ""
        self.call = solve(kernel, self.values, self.place.describe, grid, self.target, device)
        self.snapshots = take(self.call.arrays, self.values, self.place.to_host) if self.there else {}
        self.host = {**self.values, **laid_out(self.snapshots)}

    @property
    def bytes(self) -> int:
        """Of all arrays together."""
        shapes = [(a.shape, a.itemsize) for a in self.call.arrays.values()]
        return sum(math.prod(shape) * itemsize for shape, itemsize in shapes)

    def copies(self) -> dict[str, Snapshot]:
        """The arrays as plain data."""
        return self.snapshots or rooted_copies(self.call.arrays, self.values)

    @property
    def chosen(self) -> dict[str, int]:
        """What a call takes now, without what follows from its extents."""
        choices = {n: v for n, v in self.call.choices.items() if n not in BY_EXTENTS}
        return {**self.call.typed.constants, **choices}

    def solved(self, constants: Mapping[str, int]) -> tuple[Kernel, SolvedCall, Compilation]:
        """The kernel with constants fixed, and the call of it as the arrays' place has it."""
        wanted = dict(constants or self.chosen)
        name = label(wanted)
        kernel = self._kernels.get(name) or self.kernel.specialize(**wanted)
        self._kernels[name] = kernel
        named = {n: n if n in self.call.arrays else v for n, v in self.values.items()}
        configuration = resolve(kernel.options)
        return kernel, *kernel.compiled_call(named, self.call.arrays.get, self.grid, configuration)

    def point(self, constants: Mapping[str, int], roofs: Roofs, known_us: float | None) -> Point:
        """One configuration under the roofs."""
        kernel, call, compilation = self.solved(constants)
        work = count(compilation, call, self.host)
        time = known_us if known_us is not None else self._time(kernel, call)
        return point(label(constants or self.chosen) or kernel.name, work, roofs, time)

    def _time(self, kernel: Kernel, call: SolvedCall) -> float | None:
        """Microseconds of a call on copies of the arrays; None where they are not on a GPU."""
        if not self.there:
            return None
        from phobos_nb.cuda.driver import cupy
        from phobos_nb.cuda.timing import time_interleaved

        arrays = lay_out(self.snapshots, cupy())
        values = [arrays.get(n, v) for n, v in self.values.items()]
        bound = kernel.bind(*values, grid=None if self.grid is None else call.grid)
        return time_interleaved({"call": bound}, rounds=ROUNDS)["call"].median * 1e3


def roofs_of(target: Target, *, measured: bool, card: str) -> Roofs:
    """Measured roofs of the current GPU, or the nominal ones of a card, the target's last if empty."""
    if measured:
        from phobos_nb.views.roofline_probe import measured_roofs

        return measured_roofs(target)
    found = card_of(target, card)
    if found is None:
        message = f"no card {card!r} of {target.name} is known"
        raise PhobosError(
            [Diagnostic("PH405", message, stage="roofline", help=_cards_help(target, card))]
        )
    return nominal(target, found)


def _cards_help(target: Target, card: str) -> str:
    """Where the card is of another target, how to compile for that; else the target's cards."""
    for name in names():
        other = get(name)
        if card and other.cards and card_of(other, card) is not None:
            return f"{card} is a card of {name}: load or specialise the kernel with chip={name!r}"
    return f"listed: {', '.join(c.name for c in target.cards) or 'none'}"


def _title(looked: Looked) -> str:
    shapes = ", ".join(
        f"{n} {' x '.join(map(str, v.shape))}" for n, v in looked.host.items() if getattr(v, "shape", ())
    )
    return f"{looked.kernel.name}: {shapes}"
