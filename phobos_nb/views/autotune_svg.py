"""The pictures of a search for html without scripts: all points, and parallel coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape

from phobos_nb.tune.ticks import short, ticks
from phobos_nb.tune.yardstick import Measure
from phobos_nb.views.autotune import AutotuneView, Point
from phobos_nb.views.autotune_text import LOOK, amount, interval_text, mark_of

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM, LANE = 52, 12, 30, 24, 22

MOST = 150
"""Points of one picture, the best of them; a saved cell stays below 150 KB."""

INK, MUTED, EDGE, ACCENT = (f"var(--ph-{name})" for name in ("ink", "muted", "edge", "accent"))
GOOD, BAD = "var(--ph-good)", "var(--ph-bad)"

STYLE = """
.ph{--ph-good:var(--jp-success-color1,#1a7f37);--ph-bad:var(--jp-error-color1,#cf222e)}
@media (prefers-color-scheme:dark){
.ph{--ph-good:var(--jp-success-color1,#4ac26b);--ph-bad:var(--jp-error-color1,#ff7b72)}}
"""
"""Colours of statuses, beside `html.style`."""


def points_picture(view: AutotuneView, measure: Measure) -> str:
    """The configurations by rank: a measure with whiskers, peers and peak as lines, failures below."""
    shown = view.points[:MOST]
    bottom = HEIGHT - BOTTOM - LANE
    alike = [p.ms for p in view.peers if not p.other_precision]
    values = [measure.of(ms) for ms in (*(p.ms for p in shown if p.ms is not None), *alike)]
    if not values:
        return ""
    values += [] if measure.peak is None else [measure.peak]
    low, high = (0.0, 1.06 * max(values)) if measure.more_is_better else _padded(values)
    place = scale(low, high, bottom, TOP)
    parts = [*_grid(low, high, place, measure), *_lines(view, measure, place, low, high)]
    step = (WIDTH - LEFT - RIGHT - 20) / max(1, len(shown) - 1)
    for rank, point in enumerate(shown):
        x = round(LEFT + 10 + rank * step, 1)
        if point.failed:
            parts.append(_failure(point, measure, x, bottom + LANE / 2))
        else:
            look = point.status if mark_of(point, view) != LOOK else "look"
            parts.append(_point(point, look, measure, x, place))
    middle = round((LEFT + WIDTH - RIGHT) / 2)
    parts.append(words(middle, HEIGHT - 6, _caption(view), MUTED, "middle"))
    if any(p.failed for p in shown):
        parts.append(words(LEFT - 6, bottom + 16, "failed", BAD, "end"))
    return svg(parts, HEIGHT, f"{measure.name} of {len(shown)} configurations")


def _caption(view: AutotuneView) -> str:
    """What stands from left to right."""
    what = "configurations, fastest first"
    if view.two_stages:
        what = "the finals (filled), then first looks only (open), each fastest first"
    if len(view.points) > MOST:
        what += f" (the first {MOST} of {len(view.points)})"
    return what


def scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Where a value between `low` and `high` lies between `start` and `end`."""
    span = high - low or 1.0
    return lambda value: round(start + (value - low) / span * (end - start), 1)


def _padded(values: Sequence[float]) -> tuple[float, float]:
    pad = 0.06 * (max(values) - min(values) or max(values))
    return max(0.0, min(values) - pad), max(values) + pad


def _grid(low: float, high: float, place: Callable[[float], float], measure: Measure) -> Iterator[str]:
    for value in ticks(low, high):
        y = place(value)
        yield line(LEFT, y, WIDTH - RIGHT, y, EDGE)
        yield words(LEFT - 6, y + 4, short(value), INK, "end")
    yield words(6, 14, measure.unit if measure.more_is_better else "ms per call", MUTED)


def _lines(
    view: AutotuneView, measure: Measure, place: Callable[[float], float], low: float, high: float
) -> Iterator[str]:
    """Peers and the peak; what lies beyond the scale, such as another precision, in words at the top."""
    known = [(p.name, measure.of(p.ms), "7 4") for p in view.peers]
    if measure.peak is not None:
        known.append((measure.meaning, measure.peak, "10 3 2 3"))
    beyond = 14
    for name, value, dash in known:
        text = f"{name} {amount(value, measure)}"
        if low <= value <= high:
            y = place(value)
            yield line(LEFT, y, WIDTH - RIGHT, y, MUTED, dash)
            yield words(WIDTH - RIGHT - 4, y - 5, text, INK, "end")
        else:
            yield words(WIDTH - RIGHT, beyond, f"{text}, off this scale", INK, "end")
            beyond += 13


def _point(point: Point, look: str, measure: Measure, x: float, place: Callable[[float], float]) -> str:
    tip = f"<title>{escape(tip_of(point, measure))}</title>"
    whisker = ""
    if point.low is not None and point.high is not None:
        ends = [place(measure.of(ms)) for ms in (point.low, point.high)]
        whisker = line(x, ends[0], x, ends[1], GOOD if point.status != "ok" else ACCENT)
    return f"<g>{tip}{whisker}{symbol(look, x, place(measure.of(point.ms or 0.0)))}</g>"


def _failure(point: Point, measure: Measure, x: float, y: float) -> str:
    return f"<g><title>{escape(tip_of(point, measure))}</title>{symbol(point.status, x, y)}</g>"


def tip_of(point: Point, measure: Measure) -> str:
    """A point in words."""
    if point.ms is None:
        return f"{point.label}: {point.status}: {point.reason}"
    value = f"{amount(measure.of(point.ms), measure)}{interval_text(point, measure)}"
    return f"{point.label}: {value}, {point.stage}"


# Parallel coordinates ------------------------------------------------------------------------------


def parallel_picture(view: AutotuneView, measure: Measure) -> str:
    """An axis for every parameter and resource that varies, the measure last; a line each.

    Dashed ones have only a first look.
    """
    shown = [p for p in view.points[:MOST] if not p.failed]
    names = varying(view)
    if len(shown) < 2 or not names:
        return ""
    top, bottom = 48, HEIGHT - 24
    step = (WIDTH - 40 - 50) / len(names)
    axes = [_axis(sorted({value_of(p, n) for p in shown}), bottom, top) for n in names]
    values = [measure.of(p.ms) for p in shown if p.ms is not None]
    low, high = _padded(values)
    last = scale(low, high, bottom, top)
    parts: list[str] = []
    for rank, point in reversed(list(enumerate(shown))):
        corners = [(40 + i * step, axes[i][0](value_of(point, n))) for i, n in enumerate(names)]
        corners.append((40 + len(names) * step, last(measure.of(point.ms or 0.0))))
        dashed = mark_of(point, view) == LOOK
        parts.append(_path(point, corners, rank / len(shown), tip_of(point, measure), dashed=dashed))
    for i, name in enumerate(names):
        parts += _coordinate(40 + i * step, axes[i][1], name, top, bottom, i % 2)
    marks = [(last(v), short(v)) for v in ticks(low, high)]
    parts += _coordinate(40 + len(names) * step, marks, measure.unit, top, bottom, len(names) % 2)
    return svg(parts, HEIGHT, "parallel coordinates")


def value_of(point: Point, name: str) -> float:
    """A parameter or a resource of a measured point; nan where it is not known."""
    return float({**point.facts, **point.constants}.get(name, math.nan))


def varying(view: AutotuneView) -> list[str]:
    """The parameters with several values, then the resources that differ."""
    good = [p for p in view.points if not p.failed]
    facts = [n for n in view.facts if len({p.facts.get(n) for p in good}) > 1]
    return [*(n for n, values in view.axes.items() if len(values) > 1), *facts]


Axis = tuple[Callable[[float], float], list[tuple[float, str]]]
"""Where a value lies, and the marks: places with their texts."""


def _axis(known: Sequence[float], bottom: float, top: float) -> Axis:
    """Few values evenly apart, many where they are."""
    if len(known) > 10:
        place = scale(known[0], known[-1], bottom, top)
        return place, [(place(v), short(v)) for v in ticks(known[0], known[-1])]
    even = scale(0, max(1, len(known) - 1), bottom, top)
    places = {v: even(i) for i, v in enumerate(known)}
    return lambda value: places.get(value, bottom), [(y, short(v)) for v, y in places.items()]


def _path(
    point: Point, corners: Sequence[tuple[float, float]], rank: float, tip: str, *, dashed: bool
) -> str:
    d = "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in corners)
    chosen = point.status != "ok"
    look = f'stroke="{GOOD if chosen else ACCENT}" stroke-width="{2.5 if chosen else 1.2}"'
    look += ' stroke-dasharray="3 2"' if dashed else ""
    fade = 1.0 if chosen else 0.12 + 0.6 * (1 - rank) ** 3
    end = symbol(point.status, *corners[-1]) if chosen else ""
    path = f'<path d="{d}" fill="none" opacity="{fade:.2f}" {look}/>'
    return f"<g><title>{escape(tip)}</title>{path}{end}</g>"


def _coordinate(
    x: float, marks: Sequence[tuple[float, str]], name: str, top: float, bottom: float, low: int
) -> Iterator[str]:
    yield line(x, top, x, bottom, MUTED)
    yield words(x, 32 if low else 16, name, MUTED, "middle")
    for y, text in marks:
        yield words(x - 5, y + 4, text, INK, "end", halo=True)


# Pieces --------------------------------------------------------------------------------------------


def symbol(status: str, x: float, y: float) -> str:
    """The point itself: its shape tells the status."""
    if status == "winner":
        corners = (
            (x + r * math.sin(math.pi * i / 5), y - r * math.cos(math.pi * i / 5))
            for i in range(10)
            for r in (3.8 if i % 2 else 9.0,)
        )
        spots = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
        return f'<polygon points="{spots}" fill="{GOOD}"/>'
    if status == "tie":
        return f'<path d="M{x} {y - 6}l6 6-6 6-6-6z" fill="{GOOD}"/>'
    if status == "ok":
        return f'<circle cx="{x}" cy="{y}" r="3" fill="{ACCENT}"/>'
    if status == "look":
        return f'<circle cx="{x}" cy="{y}" r="3" fill="none" stroke="{ACCENT}"/>'
    return f'<path d="M{x - 3} {y - 3}l6 6m-6 0l6-6" stroke="{BAD}" stroke-width="1.5"/>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str, dash: str = "") -> str:
    """A straight line."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{colour}"{dashes}/>'


def words(
    x: float, y: float, text: str, colour: str, anchor: str = "start", *, halo: bool = False
) -> str:
    """Text; a halo keeps it readable on lines."""
    look = ' stroke="var(--ph-panel)" stroke-width="3" paint-order="stroke"' if halo else ""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}"{look}>{escape(text)}</text>'


def svg(parts: Sequence[str], height: int, title: str) -> str:
    """The picture of its parts."""
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        f'font-size="11"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )
