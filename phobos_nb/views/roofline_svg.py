"""The roofline picture: roofs and points on logarithmic axes, as SVG without scripts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from phobos_nb.views.roofline import Point, RooflineView, compute_roof, duration
from phobos_nb.views.roofline_roofs import DRAM, FMA, L2, TENSOR, Roof, amount, three
from phobos_nb.views.svg import PAGE, Palette

WIDTH, HEIGHT = 720, 330
LEFT, RIGHT, TOP, BOTTOM = 78, 24, 14, 42
ACCENT = "var(--ph-accent)"


@dataclass(frozen=True)
class Frame:
    """The part of the plane that is shown: intensities in flop/B, rates in flop/s."""

    low: float
    high: float
    bottom: float
    top: float

    def x(self, intensity: float) -> float:
        """Pixels from the left."""
        return round(LEFT + (WIDTH - LEFT - RIGHT) * _share(intensity, self.low, self.high), 1)

    def y(self, rate: float) -> float:
        """Pixels from the top."""
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * _share(rate, self.bottom, self.top), 1)


def _share(value: float, low: float, high: float) -> float:
    return math.log(value / low) / math.log(high / low)


def picture(view: RooflineView, palette: Palette = PAGE) -> str:
    """The picture; empty where no point does floating-point work."""
    shown = [p for p in view.points if p.total_flops and p.rate]
    if not shown:
        return ""
    memory = [r for r in view.roofs.roofs if r.name in (DRAM, L2)]
    compute = compute_roofs(view.roofs.roofs, shown)
    frame = frame_of(shown, memory, compute)
    parts = [
        *_grid(frame, palette),
        *_memory(frame, memory, compute, palette),
        *_compute(frame, memory, compute, palette),
        *(_point(frame, p, palette) for p in shown),
        *(_numbers(frame, shown, palette) if len(shown) > 1 else ()),
    ]
    title = f"<title>Roofline of {escape(view.title)}</title>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" font-family="ui-monospace, Menlo, Consolas, monospace" '
        f'font-size="11">{title}{"".join(parts)}</svg>'
    )


def compute_roofs(roofs: Sequence[Roof], points: Sequence[Point]) -> list[Roof]:
    """The compute roofs that some point works under, highest first."""
    used = {compute_roof(kind) for p in points for kind in p.flops}
    main = {TENSOR} if TENSOR in used else used
    found = [r for r in roofs if r.name in (main | ({FMA} & used))]
    return sorted(found, key=lambda r: -r.rate)


def frame_of(points: Sequence[Point], memory: Sequence[Roof], compute: Sequence[Roof]) -> Frame:
    """Whole decades around the points and the ridges."""
    ridges = [c.rate / m.rate for c in compute for m in memory]
    xs = [x for p in points for x in (p.intensity, p.requested_intensity) if x] + ridges
    top = max([p.rate for p in points] + [c.rate for c in compute])
    low, high = _decade(min(xs) / 1.5, -1), _decade(max(xs) * 1.5, 1)
    rates = [p.rate for p in points] + [low * 3 * m.rate for m in memory]
    return Frame(low, high, _decade(min(rates) / 1.5, -1), _decade(top * 1.2, 1))


def _decade(value: float, way: int) -> float:
    power = math.log10(value)
    return 10.0 ** (math.floor(power) if way < 0 else math.ceil(power))


def _decades(low: float, high: float) -> list[float]:
    return [10.0**n for n in range(round(math.log10(low)), round(math.log10(high)) + 1)]


def _grid(frame: Frame, palette: Palette) -> Iterator[str]:
    for value in _decades(frame.low, frame.high):
        x = frame.x(value)
        yield _line(x, TOP, x, HEIGHT - BOTTOM, palette.muted, 'opacity="0.25"')
        yield _text(x, HEIGHT - BOTTOM + 15, f"{value:g}", palette.muted, "middle")
    for value in _decades(frame.bottom, frame.top):
        y = frame.y(value)
        yield _line(LEFT, y, WIDTH - RIGHT, y, palette.muted, 'opacity="0.25"')
        yield _text(LEFT - 6, y + 4, _decade_name(value), palette.muted, "end")
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield _text(middle, HEIGHT - 8, "flop per byte", palette.muted, "middle")


def _decade_name(rate: float) -> str:
    number, prefix = amount(rate, "flop/s").split(" ")
    return f"{float(number):g} {prefix}"


def _memory(
    frame: Frame, memory: Sequence[Roof], compute: Sequence[Roof], palette: Palette
) -> Iterator[str]:
    """Slanted roofs; each ends at the highest compute roof."""
    ceiling = compute[0].rate if compute else frame.top
    for roof in memory:
        start = max(frame.low, frame.bottom / roof.rate)
        stop = min(frame.high, ceiling / roof.rate)
        ends = frame.x(start), frame.y(start * roof.rate), frame.x(stop), frame.y(stop * roof.rate)
        dashes = 'stroke-dasharray="7 4"' if roof.name == L2 else ""
        yield _line(*ends, palette.ink, f'stroke-width="1.6" {dashes}')
        yield _along(ends, f"{roof.name} {amount(roof.rate, 'B/s')}", palette)


def _along(ends: tuple[float, float, float, float], label: str, palette: Palette) -> str:
    """A label that lies on a slanted line, in its upper half."""
    x1, y1, x2, y2 = ends
    x, y = round(x1 + 0.52 * (x2 - x1), 1), round(y1 + 0.52 * (y2 - y1) - 6, 1)
    angle = round(math.degrees(math.atan2(y2 - y1, x2 - x1)), 1)
    turn = f'transform="rotate({angle} {x} {y})"'
    return _text(x, y, label, palette.ink, "middle", turn)


def _compute(
    frame: Frame, memory: Sequence[Roof], compute: Sequence[Roof], palette: Palette
) -> Iterator[str]:
    """Flat roofs, from where the fastest memory roof meets them."""
    fastest = max((m.rate for m in memory), default=0.0)
    for roof in compute:
        start = max(frame.low, roof.rate / fastest) if fastest else frame.low
        y = frame.y(roof.rate)
        yield _line(frame.x(start), y, WIDTH - RIGHT, y, palette.ink, 'stroke-width="1.6"')
        label = f"{roof.name} {amount(roof.rate, 'flop/s')}"
        yield _text(WIDTH - RIGHT - 4, y - 5, label, palette.ink, "end")


def _numbers(frame: Frame, shown: Sequence[Point], palette: Palette) -> Iterator[str]:
    """A number right of each disc; one that would lie on others stands further to the right."""
    placed: list[tuple[float, float]] = []
    for index, point in enumerate(shown):
        x, y = frame.x(point.intensity) + 10, frame.y(point.rate) + 4
        while any(abs(x - a) < 10 and abs(y - b) < 10 for a, b in placed):
            x += 12
        placed.append((x, y))
        yield _text(x, y, str(index + 1), palette.ink, "start")


def _point(frame: Frame, point: Point, palette: Palette) -> str:
    """A disc at the least bytes, a ring at the requested ones; hollow where nothing was measured."""
    y, x = frame.y(point.rate), frame.x(point.intensity)
    requested = frame.x(point.requested_intensity) if point.requested_intensity else x
    color = ACCENT if palette is PAGE else "#0b57d0"
    fill = color if point.microseconds is not None else palette.background
    fill = "var(--ph-panel)" if fill == "none" else fill
    parts = [
        f"<title>{escape(tip(point))}</title>",
        _line(requested, y, x, y, color, 'stroke-dasharray="2 3"'),
        f'<path d="M{requested - 5} {y}l5 -5l5 5l-5 5z" fill="none" stroke="{color}" '
        'stroke-width="1.6"/>',
        f'<circle cx="{x}" cy="{y}" r="6" fill="{fill}" stroke="{color}" stroke-width="2"/>',
    ]
    return f"<g>{''.join(parts)}</g>"


def tip(point: Point) -> str:
    """A point in one line."""
    how = "measured" if point.microseconds is not None else "at best, not measured"
    time = "" if point.microseconds is None else f" in {duration(point.microseconds * 1e-6)}"
    return (
        f"{point.label}: {amount(point.rate, 'flop/s')} {how}{time}; "
        f"{three(point.intensity)} flop/B of the least bytes, "
        f"{three(point.requested_intensity)} of the requested"
    )


def _line(x1: float, y1: float, x2: float, y2: float, color: str, more: str) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{color}" {more}/>'


def _text(x: float, y: float, text: str, color: str, anchor: str, more: str = "") -> str:
    place = f'x="{round(x, 1)}" y="{round(y, 1)}" text-anchor="{anchor}"'
    return f'<text {place} fill="{color}" {more}>{escape(text)}</text>'
