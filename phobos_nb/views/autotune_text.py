"""A search as text that is the same every time."""

from __future__ import annotations

from phobos_nb.tune.outcome import FIRST_LOOK
from phobos_nb.tune.yardstick import Measure
from phobos_nb.views.autotune import AutotuneView, PeerLine, Point

MARKS = {"winner": "*", "tie": "=", "ok": " "}
"""A sign for each status beside its colour."""

LOOK = "~"
"""The sign of what has only a first look, where others were in the finals."""


def mark_of(point: Point, view: AutotuneView) -> str:
    """The sign of a measured point."""
    return LOOK if view.two_stages and point.stage == FIRST_LOOK else MARKS[point.status]


def headline(view: AutotuneView) -> str:
    """How far the search is and what failed, in one sentence."""
    good = sum(not p.failed for p in view.points)
    failures = ", ".join(f"{n} {kind}" for kind, n in view.failures.items())
    parts = [
        f"{len(view.points)} of {view.total} configurations, {good} measured ({view.cache} cache)",
        f"failed: {failures}" if failures else "none failed",
    ]
    if view.stopped:
        parts.append(f"stopped: {view.stopped}")
    if view.remark:
        parts.append(view.remark)
    return "; ".join(parts)


def text(view: AutotuneView, most: int = 12) -> str:
    """The search as text: headline, peers, the fastest `most`, every kind of failure with a reason."""
    lines = [view.title, f"  {headline(view)}"]
    if view.recorded:
        lines.append(f"  recorded on {view.recorded}")
    if view.checked:
        lines.append(f"  answers checked against {view.checked}")
    lines += _yardsticks(view)
    good = [p for p in view.points if not p.failed]
    lines += [
        f"  {mark_of(p, view)} {p.label}: {_value(view, p)}{_slower(p, good[0])}" for p in good[:most]
    ]
    if len(good) > most:
        lines.append(f"  ... and {len(good) - most} more")
    if any(p.status == "tie" for p in view.points):
        lines.append("  = cannot be told from the winner (*)")
    if any(mark_of(p, view) == LOOK for p in good[:most]):
        lines.append(f"  {LOOK} {view.looked}; its factor is to the winner's first look")
    seen: set[str] = set()
    for point in view.points:
        if point.failed and point.status not in seen:
            seen.add(point.status)
            lines.append(f"  x {point.label}: {point.status}: {point.reason}")
    return "\n".join(lines)


def _yardsticks(view: AutotuneView) -> list[str]:
    """The peers, and the card's peak where it is known."""
    lines = [f"  {peer.name}: {_value(view, peer)}" for peer in view.peers]
    measure = view.measure
    if measure.peak is not None and measure.more_is_better:
        lines.append(f"  {measure.meaning}: {amount(measure.peak, measure)}")
    return lines


def _value(view: AutotuneView, shown: Point | PeerLine) -> str:
    """The time, and the rate beside it."""
    words = time_text(shown.ms, shown.low, shown.high)
    if shown.ms is None or not view.measure.more_is_better:
        return words
    return f"{words}, {amount(view.measure.of(shown.ms), view.measure)}"


def amount(value: float, measure: Measure) -> str:
    """A value with its unit."""
    return f"{value:.4g} {measure.unit}"


def interval_text(shown: Point | PeerLine, measure: Measure) -> str:
    """The interval of a value in brackets, lower bound first; empty where there is none."""
    if shown.low is None or shown.high is None:
        return ""
    low, high = sorted((measure.of(shown.low), measure.of(shown.high)))
    return f" [{low:.4g}, {high:.4g}]"


def time_text(ms: float | None, low: float | None, high: float | None) -> str:
    """A time with its interval in words."""
    if ms is None:
        return "no time"
    return f"{ms:.4g} ms" if low is None or high is None else f"{ms:.4g} ms [{low:.4g}, {high:.4g}]"


def _slower(point: Point, fastest: Point) -> str:
    times = None if point is fastest else point.times_of(fastest)
    return "" if times is None else f", {times:.3f}x"
