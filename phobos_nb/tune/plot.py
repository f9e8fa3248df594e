"""The search as a matplotlib figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from phobos_nb.tune.outcome import Measured, label
from phobos_nb.tune.statistics import estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from phobos_nb.tune.result import Tuning

MARKS = {"winner": ("*", 160, "tab:green"), "tie": ("D", 45, "tab:green"), "ok": ("o", 30, "tab:blue")}
"""Shape, size and colour of a point by its status, so that colour is not the only difference."""


def plot(tuning: Tuning, x: str | None = None) -> Figure:
    """Times with whiskers over a parameter or fact `x` (default: the rank), failures as crosses on top.

    Dashed lines: the peers' medians. `ValueError` for an `x` that no configuration has.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes: Any = figure.add_subplot()
    measured = tuning.measured
    places = _places(tuning, measured, x)
    for outcome, place in zip(measured, places, strict=True):
        _point(axes, tuning, outcome, place)
    _failures(axes, tuning, x, len(measured))
    for name, times in tuning.record.peers.items():
        middle = estimate(times).median
        axes.axhline(middle, linestyle="--", linewidth=1, color="tab:gray")
        axes.annotate(f"{name} {middle:.3g} ms", (0.99, middle), xycoords=("axes fraction", "data"),
                      ha="right", va="top", fontsize=8)  # fmt: skip
    if measured:
        axes.set_yscale("log")
        for axis_format in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
            axis_format("{x:g}")
    axes.margins(x=0.03, y=0.1)
    if x is None:
        axes.set_xlim(-1.5, len(measured) + len(tuning.failures) + 0.5)
    axes.set_xlabel(x or "configuration, fastest first")
    axes.set_ylabel("ms per call (median, 95 % interval)")
    axes.set_title(_title(tuning), fontsize=10)
    return figure


def _places(tuning: Tuning, measured: Sequence[Measured], x: str | None) -> list[float]:
    if x is None:
        return [float(i) for i in range(len(measured))]
    known = {**dict.fromkeys(tuning.record.space), **{f: None for m in measured for f in m.facts}}
    if x not in known:
        raise ValueError(f"x: no parameter or fact {x!r}; there are {', '.join(known)}")
    return [float({**m.facts, **m.constants}.get(x, float("nan"))) for m in measured]


def _point(axes: Any, tuning: Tuning, outcome: Measured, place: float) -> None:
    best = tuning.record.best
    status = "ok"
    if best is not None and outcome.label == label(best):
        status = "winner"
    elif outcome.label in tuning.record.ties:
        status = "tie"
    marker, size, colour = MARKS[status]
    found = estimate(outcome.samples)
    if found.low == found.low:
        axes.plot([place, place], [found.low, found.high], color=colour, linewidth=1)
    axes.scatter([place], [found.median], marker=marker, s=size, color=colour, zorder=3)
    if status == "winner":
        text = f"{outcome.label}\n{found.median:.4g} ms"
        axes.annotate(
            text, (place, found.median), xytext=(8, -4), textcoords="offset points", fontsize=8
        )


def _failures(axes: Any, tuning: Tuning, x: str | None, measured: int) -> None:
    """Crosses at the top edge, labelled by how many there are of each kind."""
    failures = tuning.failures
    if not failures:
        return
    if x is None:
        places = [float(measured + i) for i in range(len(failures))]
    else:
        places = [float(f.constants.get(x, float("nan"))) for f in failures]
    across = axes.get_xaxis_transform()
    axes.scatter(
        places, [0.97] * len(places), marker="x", s=30, color="tab:red", transform=across, clip_on=False
    )
    counts: dict[str, int] = {}
    for failed in failures:
        counts[failed.kind.value] = counts.get(failed.kind.value, 0) + 1
    text = "failed: " + ", ".join(f"{n} {kind}" for kind, n in counts.items())
    axes.annotate(text, (0.99, 0.9), xycoords="axes fraction", ha="right", fontsize=8, color="tab:red")


def _title(tuning: Tuning) -> str:
    identity = tuning.record.identity
    extents = ", ".join(f"{n}={v}" for n, v in identity.extents.items())
    recorded = f"\nrecorded: {tuning.recorded}" if tuning.recorded else ""
    return f"{identity.kernel} {extents} on {identity.device}{recorded}"
