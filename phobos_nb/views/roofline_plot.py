"""The roofline as a matplotlib figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from phobos_nb.views.roofline import Point, RooflineView
from phobos_nb.views.roofline_roofs import DRAM, L2, amount
from phobos_nb.views.roofline_svg import compute_roofs, frame_of

if TYPE_CHECKING:
    from phobos_nb.tune.figure import Figure

SHAPES = "osDv^<>P*X"
"""One for each point, so that colour is not the only difference."""


def plot(view: RooflineView) -> Figure:
    """Roofs and points on logarithmic axes; `ValueError` where no point does floating-point work."""
    from phobos_nb.tune.figure import Figure

    shown = [p for p in view.points if p.total_flops and p.rate]
    if not shown:
        raise ValueError("no floating-point operations: there is no intensity to draw")
    memory = [r for r in view.roofs.roofs if r.name in (DRAM, L2)]
    compute = compute_roofs(view.roofs.roofs, shown)
    frame = frame_of(shown, memory, compute)
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes: Any = figure.add_subplot()
    ceiling = compute[0].rate if compute else frame.top
    for roof in memory:
        ends = [frame.low, ceiling / roof.rate]
        style = "--" if roof.name == L2 else "-"
        name = f"{roof.name} {amount(roof.rate, 'B/s')}"
        axes.plot(ends, [x * roof.rate for x in ends], style, color="0.2", linewidth=1.4)
        middle = (ends[0] * ends[1]) ** 0.5
        above = roof.rate == max(m.rate for m in memory)
        place: dict[str, Any] = {"xytext": (-6, 4), "ha": "right", "va": "bottom"}
        if not above:
            place = {"xytext": (6, -4), "ha": "left", "va": "top"}
        axes.annotate(
            name, (middle, middle * roof.rate), textcoords="offset points", fontsize=8, **place
        )
    fastest = max((m.rate for m in memory), default=0.0)
    for roof in compute:
        start = max(frame.low, roof.rate / fastest) if fastest else frame.low
        axes.plot([start, frame.high], [roof.rate] * 2, "-", color="0.2", linewidth=1.4)
        axes.annotate(f"{roof.name} {amount(roof.rate, 'flop/s')}", (frame.high, roof.rate),
                      xytext=(-4, 3), textcoords="offset points", ha="right", fontsize=8)  # fmt: skip
    for index, point in enumerate(shown):
        _point(axes, point, SHAPES[index % len(SHAPES)])
    axes.set(xscale="log", yscale="log", xlabel="flop per byte", ylabel="flop/s",
             xlim=(frame.low, frame.high), ylim=(frame.bottom, frame.top))  # fmt: skip
    kind = "measured" if view.roofs.measured else "nominal"
    axes.set_title(f"{view.title}\n{kind} roofs of {view.roofs.device}", fontsize=9)
    axes.legend(fontsize=8, loc="lower right")
    return figure


def _point(axes: Any, point: Point, shape: str) -> None:
    """Filled where measured; a dotted line reaches to the intensity of the requested bytes."""
    label = f"{point.label}: {amount(point.rate, 'flop/s')}"
    if point.microseconds is None:
        label += " at best, not measured"
    face = "none" if point.microseconds is None else None
    (line,) = axes.plot(
        [point.requested_intensity or point.intensity, point.intensity], [point.rate] * 2, ":"
    )
    axes.scatter([point.intensity], [point.rate], marker=shape, s=55, zorder=3, label=label,
                 facecolors=face or line.get_color(), edgecolors=line.get_color())  # fmt: skip
