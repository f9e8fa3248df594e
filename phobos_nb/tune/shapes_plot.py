"""The regret of a set of configurations at every shape, as a matplotlib figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from phobos_nb.tune.outcome import label

if TYPE_CHECKING:
    from phobos_nb.tune.figure import Figure
    from phobos_nb.tune.shapes_result import ShapesTuning

MARKERS = "osD^v<>PX*"
"""Shapes of the members' points, so that colour is not the only difference."""


def plot(found: ShapesTuning) -> Figure:
    """One column per shape; a member's point at its time over the best there; rings: what calls take."""
    from phobos_nb.tune.figure import Figure

    points = found.table.points
    figure = Figure(figsize=(max(6.0, 1.1 * len(points) + 3), 4.5), layout="constrained")
    axes: Any = figure.add_subplot()
    for number, member in enumerate(found.table.members):
        known = [(i, t / p.best) for i, p in enumerate(points) if (t := p.times[number]) is not None]
        axes.plot(
            [i for i, _ in known], [r for _, r in known], MARKERS[number % len(MARKERS)],
            label=label(member.constants), alpha=0.8,
        )  # fmt: skip
    chosen = [(i, 1.0 + r) for i, p in enumerate(points) if (r := found.regret(p)) is not None]
    axes.plot(
        [i for i, _ in chosen], [r for _, r in chosen], "o", markersize=13, fillstyle="none",
        color="black", label="chosen",
    )  # fmt: skip
    axes.axhline(1.0, linestyle="--", linewidth=1, color="tab:gray")
    names = ["\n".join(f"{n}={v}" for n, v in p.extents.items()) for p in points]
    axes.set_xticks(range(len(points)), names, fontsize=8)
    axes.set_yscale("log")
    for axis_format in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        axis_format("{x:g}")
    axes.set_ylabel("time / best time at that shape")
    axes.set_title(_title(found), fontsize=10)
    axes.legend(fontsize=8)
    return figure


def _title(found: ShapesTuning) -> str:
    identity = found.table.identity
    recorded = f" (recorded: {found.recorded})" if found.recorded else ""
    return f"{identity.kernel} on {identity.device}{recorded}"
