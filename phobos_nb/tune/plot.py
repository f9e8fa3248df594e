"""The search as a matplotlib figure: the views that the widget has, for papers and scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from phobos_nb.tune.outcome import Failed, Measured, Outcome
from phobos_nb.tune.plot_map import draw_map
from phobos_nb.tune.plot_parallel import draw_parallel
from phobos_nb.tune.plot_style import GRAY, LOOKS, Shown, number
from phobos_nb.tune.stages import remark
from phobos_nb.tune.statistics import estimate
from phobos_nb.tune.yardstick import first_measure, measure_named, measures_of

if TYPE_CHECKING:
    from phobos_nb.tune.figure import Figure
    from phobos_nb.tune.result import Tuning

VIEWS = ("points", "map", "parallel")


def plot(
    tuning: Tuning,
    x: str | None = None,
    *,
    view: str = "points",
    y: str | None = None,
    rows: str | None = None,
    columns: str | None = None,
) -> Figure:
    """A figure of one view.

    view: "points" over the parameter or fact `x` (None: the rank); "map" of the parameters `rows` and
    `columns`, one for each combination of the others; "parallel" coordinates over all. y: a measure,
    "time", "throughput", "bandwidth" or "share of peak"; None for the first of throughput, bandwidth
    and time that is known. Raises `ValueError` for a name that there is not.
    """
    from phobos_nb.tune.figure import Figure

    known = measures_of(tuning.record, tuning.kernel)
    shown = Shown(tuning, first_measure(known) if y is None else measure_named(known, y))
    if view == "map":
        return draw_map(shown, rows, columns)
    if view == "parallel":
        return draw_parallel(shown)
    if view != "points":
        raise ValueError(f"no view {view!r}; there are {', '.join(VIEWS)}")
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    _points(figure.add_subplot(), shown, x)
    return figure


def file_kinds() -> list[str]:
    """The endings of names of files that a figure can be written to, without their dot."""
    from matplotlib.backend_bases import FigureCanvasBase

    return list(FigureCanvasBase.get_supported_filetypes())


def _points(axes: Any, shown: Shown, x: str | None) -> None:
    places = _places(shown, x)
    for outcome in shown.measured:
        _point(axes, shown, outcome, places[outcome.label])
    _scale(axes, shown)
    _failures(axes, shown, places)
    _lines(axes, shown)
    spots = [p for p in places.values() if not math.isnan(p)]
    if len(spots) > 1:
        room = 0.04 * (max(spots) - min(spots))
        axes.set_xlim(min(spots) - room, max(spots) + room)
    ranked = "configuration, fastest first"
    if shown.two_stages:
        ranked = "the finals, then first looks only, each fastest first"
    axes.set_xlabel(x or ranked)
    _stages(axes, shown)
    axes.set_ylabel(f"{shown.measure.unit} (median, 95 % interval)")
    winner = shown.tuning.winner
    best = "" if winner is None else f"\nbest: {winner.label}, {_amount(shown, winner)}"
    axes.set_title(shown.title + best, fontsize=10)


def _stages(axes: Any, shown: Shown) -> None:
    """What open circles are, where there are both stages."""
    if not shown.looked:
        return
    words = remark(shown.tuning.record.outcomes, shown.tuning.record.best)
    text = "\n".join([f"open: {shown.looked}", *wrap(words, 70)])
    axes.annotate(text, (0.01, 0.02), xycoords="axes fraction",
                  fontsize=8, color=GRAY)  # fmt: skip


def _amount(shown: Shown, outcome: Measured) -> str:
    return f"{number(shown.measure.of(outcome.median))} {shown.measure.unit}"


def _places(shown: Shown, x: str | None) -> Mapping[str, float]:
    """Label -> place. Failures come last where they have no value."""
    outcomes: list[Outcome] = [*shown.measured, *shown.tuning.failures]
    if x is None:
        return {o.label: float(i) for i, o in enumerate(outcomes)}
    known = shown.names
    if x not in known:
        raise ValueError(f"x: no parameter or fact {x!r}; there are {', '.join(known)}")
    return {o.label: shown.value(o, x) for o in outcomes}


def _point(axes: Any, shown: Shown, outcome: Measured, place: float) -> None:
    status = shown.status(outcome)
    look = LOOKS[status]
    found = estimate(outcome.samples)
    middle = shown.measure.of(found.median)
    if not math.isnan(found.low):
        ends = [shown.measure.of(ms) for ms in (found.low, found.high)]
        axes.plot([place, place], ends, color=look.colour, linewidth=1)
    face = look.colour if look.filled else "white"
    axes.scatter([place], [middle], marker=look.marker, s=look.size, facecolors=face,
                 edgecolors=look.colour, zorder=3)  # fmt: skip


def _scale(axes: Any, shown: Shown) -> None:
    """Rates from 0 to above the peak, times by their logarithm."""
    measure = shown.measure
    if measure.more_is_better:
        best = max((measure.of(o.median) for o in shown.measured), default=1.0)
        axes.set_ylim(0, 1.12 * max(best, measure.peak or 0.0, *shown.alike.values()))
        return
    times = [o.median for o in shown.measured] + list(shown.alike.values()) or [1.0]
    axes.set_yscale("log")
    axes.set_ylim(0.85 * min(*times, measure.peak or min(times)), 1.25 * max(times))
    for axis_format in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        axis_format("{x:g}")


def _failures(axes: Any, shown: Shown, places: Mapping[str, float]) -> None:
    """Crosses at the edge of the slow, labelled by how many there are of each kind."""
    failures = [f for f in shown.tuning.failures if not math.isnan(places[f.label])]
    if not shown.tuning.failures:
        return
    edge = 0.03 if shown.measure.more_is_better else 0.97
    axes.scatter([places[f.label] for f in failures], [edge] * len(failures), marker="x", s=30,
                 color=LOOKS["failed"].colour, transform=axes.get_xaxis_transform())  # fmt: skip
    text = "failed: " + ", ".join(f"{n} {kind}" for kind, n in _kinds(shown.tuning.failures).items())
    up = 0.07 if shown.measure.more_is_better else 0.9
    axes.annotate(text, (0.01, up), xycoords="axes fraction", fontsize=8,
                  color=LOOKS["failed"].colour)  # fmt: skip


def _kinds(failures: tuple[Failed, ...]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for failed in failures:
        counts[failed.kind.value] = counts.get(failed.kind.value, 0) + 1
    return counts


def _lines(axes: Any, shown: Shown) -> None:
    """Peers and the peak; what is off the scale, such as another precision, in words at the edge."""
    measure, words = shown.measure, list[str]()
    low, high = axes.get_ylim()
    known = {n: (v, "--") for n, v in {**shown.alike, **shown.unlike}.items()}
    if measure.peak is not None:
        known[measure.meaning] = (measure.peak, "-.")
    for name, (value, style) in known.items():
        text = f"{name} {number(value)}"
        if low <= value <= high:
            axes.axhline(value, linestyle=style, linewidth=1, color=GRAY)
            axes.annotate(text, (0.99, value), xycoords=("axes fraction", "data"), ha="right",
                          va="bottom", fontsize=8)  # fmt: skip
        else:
            words.append(f"{text} {measure.unit}, off this scale")
    if words:
        axes.annotate("\n".join(words), (0.99, 0.98), xycoords="axes fraction", ha="right", va="top",
                      fontsize=8, color=GRAY)  # fmt: skip
    axes.set_ylim(low, high)
