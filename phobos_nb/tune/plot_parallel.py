"""Parallel coordinates of a search as a figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from phobos_nb.tune.outcome import Measured
from phobos_nb.tune.plot_style import BLUE, LOOKS, Shown
from phobos_nb.tune.ticks import short, ticks

if TYPE_CHECKING:
    from phobos_nb.tune.figure import Figure

FEW = 10
"""Up to so many values stand evenly apart."""


@dataclass(frozen=True)
class Axis:
    """One upright axis: its name and the values that occur, in order."""

    name: str
    values: tuple[float, ...]

    @property
    def even(self) -> bool:
        """Whether the values stand evenly apart."""
        return len(self.values) <= FEW

    def place(self, value: float) -> float:
        """From 0 to 1; nan for an unknown value."""
        if math.isnan(value):
            return math.nan
        if self.even:
            return self.values.index(value) / max(1, len(self.values) - 1)
        return (value - self.values[0]) / (self.values[-1] - self.values[0] or 1.0)

    @property
    def marks(self) -> Sequence[float]:
        """Values that are written beside the axis."""
        if self.even:
            return self.values
        return ticks(self.values[0], self.values[-1])


def draw_parallel(shown: Shown) -> Figure:
    """An axis for every parameter and fact that varies, the measure last; a line per configuration."""
    from phobos_nb.tune.figure import Figure

    axes_of = [*_varying(shown), _measure_axis(shown)]
    figure = Figure(figsize=(max(7.0, 1.05 * len(axes_of) + 1), 4.5), layout="constrained")
    axes: Any = figure.add_subplot()
    for rank, outcome in reversed(list(enumerate(shown.measured))):
        _line(axes, shown, axes_of, outcome, rank)
    for failed in shown.tuning.failures:
        known = [(i, a.place(shown.value(failed, a.name))) for i, a in enumerate(axes_of[:-1])]
        spots = [(i, y) for i, y in known if not math.isnan(y)]
        look = LOOKS["failed"]
        axes.plot(*zip(*spots, strict=True), color=look.colour, linewidth=1, linestyle=":")
        axes.scatter(*spots[-1], marker=look.marker, color=look.colour, zorder=4)
    for i, axis in enumerate(axes_of):
        _upright(axes, i, axis)
    axes.set_xticks(range(len(axes_of)), [a.name for a in axes_of], fontsize=9)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_yticks([])
    axes.set_xlim(-0.5, len(axes_of) - 0.6)
    for side in axes.spines.values():
        side.set_visible(False)
    signs = f"\ndashed: {shown.looked}" if shown.looked else ""
    axes.set_title(shown.title + signs, fontsize=10)
    return figure


def _varying(shown: Shown) -> list[Axis]:
    found = [Axis(n, _values(shown, n)) for n in shown.names]
    return [axis for axis in found if len(axis.values) > 1]


def _values(shown: Shown, name: str) -> tuple[float, ...]:
    outcomes = shown.tuning.record.outcomes.values()
    return tuple(sorted({v for o in outcomes if not math.isnan(v := shown.value(o, name))}))


def _measure_axis(shown: Shown) -> Axis:
    """Never even: its ends are the best and the worst."""
    values = sorted(shown.measure.of(o.median) for o in shown.measured) or [0.0, 1.0]
    steps = [values[0] + i * (values[-1] - values[0]) / (FEW + 1) for i in range(FEW + 2)]
    return Axis(shown.measure.unit, tuple(steps))


def _line(axes: Any, shown: Shown, axes_of: Sequence[Axis], outcome: Measured, rank: int) -> None:
    status = shown.status(outcome)
    places = [axis.place(shown.value(outcome, axis.name)) for axis in axes_of[:-1]]
    places.append(axes_of[-1].place(shown.measure.of(outcome.median)))
    fade = 0.12 + 0.6 * (1 - rank / len(shown.measured)) ** 3
    if status in ("ok", "look"):
        style = "--" if status == "look" else "-"
        axes.plot(range(len(places)), places, color=BLUE, linewidth=1, alpha=fade, linestyle=style)
        return
    look = LOOKS[status]
    style = "-" if status == "winner" else "--"
    axes.plot(range(len(places)), places, color=look.colour, linewidth=2, linestyle=style, zorder=3)
    axes.scatter([len(places) - 1], [places[-1]], marker=look.marker, s=look.size,
                 color=look.colour, zorder=4)  # fmt: skip


def _upright(axes: Any, x: int, axis: Axis) -> None:
    axes.axvline(x, color="black", linewidth=0.8, zorder=2)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8}
    for value in axis.marks:
        axes.annotate(short(value), (x, axis.place(value)), xytext=(-4, 0), ha="right", va="center",
                      textcoords="offset points", fontsize=8, bbox=box, zorder=5)  # fmt: skip
