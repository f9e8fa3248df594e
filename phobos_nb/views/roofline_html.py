"""A roofline as html that needs no script."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from phobos_nb.views.html import style
from phobos_nb.views.roofline import Need, Point, RooflineView, by_size, duration
from phobos_nb.views.roofline_roofs import amount, three
from phobos_nb.views.roofline_svg import picture

BARS = (
    ".ph .need{position:relative;min-width:12em}.ph .need span{display:block;height:.8em;"
    "background:var(--ph-accent);border-radius:2px;min-width:2px}"
    ".ph .measured span{background:var(--ph-muted)}.ph tr.bound td{font-weight:600}.ph td,.ph p.point"
    "{color:var(--ph-ink)}.ph p.point{font-weight:600;margin:12px 0 4px}"
)
LEGEND = (
    "Disc: flop per least byte. Diamond: flop per byte that warps ask for. "
    "Hollow: the rate that what binds it allows, nothing was measured."
)


def page(view: RooflineView) -> str:
    """The whole view as one html element."""
    many = len(view.points) > 1
    parts = [
        f"<style>{style()}{BARS}</style>",
        f"<pre class='sig'>{escape(view.title)}</pre>",
        body(view),
        *(_point(p, i if many else None) for i, p in enumerate(view.points)),
        _roofs(view),
    ]
    return f"<div class='ph'>{''.join(parts)}</div>"


def body(view: RooflineView) -> str:
    """The picture with its legend; a sentence where there is nothing to draw."""
    drawn = picture(view)
    if not drawn:
        return "<p>No floating-point operations: there is no intensity to draw, only bytes.</p>"
    return f"{drawn}<p>{escape(LEGEND)}</p>"


def _point(point: Point, index: int | None) -> str:
    head = "" if index is None else f"<p class='point'>{index + 1}. {escape(point.label)}</p>"
    notes = [*point.words, *(f"The simulation found: {p}" for p in point.problems)]
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in notes)
    return f"{head}<dl>{''.join(_facts(point))}</dl><ul>{items}</ul>{needs_table(point)}"


def _facts(point: Point) -> Iterator[str]:
    kinds = ", ".join(f"{amount(n, 'flop')} {kind}" for kind, n in by_size(point.flops))
    yield _fact("work", amount(point.total_flops, "flop"), kinds)
    yield _fact("least bytes", amount(point.least_bytes, "B"), f"{three(point.intensity)} flop/B")
    requested = f"{three(point.requested_intensity)} flop/B"
    yield _fact("requested bytes", amount(point.requested_bytes, "B"), requested)
    if point.microseconds is not None:
        rate = amount(point.rate, "flop/s") if point.total_flops else ""
        yield _fact("measured", duration(point.microseconds * 1e-6), rate)
    yield _fact("counted", point.method, "")


def _fact(name: str, value: str, remark: str) -> str:
    small = f" <small>({escape(remark)})</small>" if remark else ""
    return f"<div><dt>{escape(name)}</dt><dd>{escape(value)}{small}</dd></div>\n"


def needs_table(point: Point) -> str:
    """What each resource needs at least, as bars of one scale; the measured time on top."""
    measured = None if point.microseconds is None else point.microseconds * 1e-6
    longest = max([n.seconds for n in point.needs] + [measured or 0.0], default=0.0)
    if not longest:
        return ""
    rows = [] if measured is None else [_row("measured", "", measured, longest, "measured")]
    rows += [_need(n, longest, "bound" if n is point.bound else "") for n in point.needs]
    head = "<tr><th>resource</th><th class='r'>at least</th><th></th><th>for</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _need(need: Need, longest: float, kind: str) -> str:
    return _row(need.resource, need.what, need.seconds, longest, kind)


def _row(name: str, what: str, seconds: float, longest: float, kind: str) -> str:
    """kind: "bound", "measured" or empty."""
    width = round(100 * seconds / longest, 1)
    mark = f" class='{kind}'" if kind else ""
    binds = " (binds)" if kind == "bound" else ""
    return (
        f"<tr{mark}><td>{escape(name)}{binds}</td><td class='r'>{duration(seconds)}</td>"
        f"<td class='need'><span style='width:{width}%'></span></td><td>{escape(what)}</td></tr>"
    )


def _roofs(view: RooflineView) -> str:
    kind = "measured" if view.roofs.measured else "nominal"
    rows = "".join(
        f"<tr><td>{escape(r.name)}</td>"
        f"<td class='r'>{amount(r.rate, 'flop/s' if r.kind == 'compute' else 'B/s')}</td>"
        f"<td class='w'>{escape(r.source)}</td></tr>"
        for r in view.roofs.roofs
    )
    title = f"Roofs of {view.roofs.device}, {kind}"
    return f"<details><summary>{escape(title)}</summary><figure><table>{rows}</table></figure></details>"
