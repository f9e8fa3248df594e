"""A search as html without scripts: verdict, pictures, maps of two parameters, a table, failures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from html import escape

from phobos_nb.views.autotune import AutotuneView, Point
from phobos_nb.views.autotune_svg import STYLE, parallel_picture, points_picture
from phobos_nb.views.autotune_text import LOOK, amount, headline, interval_text, mark_of, time_text
from phobos_nb.views.html import style

MOST_ROWS = 40
"""Rows of the table of configurations; a saved cell stays below 150 KB."""

MOST_MAPS, MOST_CELLS = 8, 640
"""Small maps, one for each combination of the other parameters, and cells of all of them."""


def page(view: AutotuneView) -> str:
    """The whole view as one html element."""
    parts = [
        f"<style>{style()}{STYLE}</style>",
        f"<pre class='sig'><b>{escape(view.kernel)}</b> {escape(_sizes(view))}</pre>",
        f"<dl>{''.join(_facts(view))}</dl>",
        f"<p>{escape(headline(view))}</p>",
        _picture(view),
        _maps(view),
        _pane("Parallel coordinates", parallel_picture(view, view.measure), is_open=False),
        _table(view),
        _failures(view),
    ]
    return f"<div class='ph'>{''.join(parts)}</div>"


def _picture(view: AutotuneView) -> str:
    picture = points_picture(view, view.measure)
    return f"<div class='panes'><figure>{picture}</figure></div>" if picture else ""


def _sizes(view: AutotuneView) -> str:
    return ", ".join(f"{n}={v}" for n, v in view.extents.items())


def _facts(view: AutotuneView) -> Iterable[str]:
    winner, measure = view.winner, view.measure
    if winner is not None and winner.ms:
        value = f"{amount(measure.of(winner.ms), measure)}{interval_text(winner, measure)}"
        yield _fact("best", value, winner.label)
        for share in (m for m in view.measures if m.name == "share of peak"):
            yield _fact(share.name, f"{share.of(winner.ms):.1f} %", share.meaning)
    for peer in view.peers:
        remark = "not alike: another precision" if peer.other_precision else ""
        if winner is not None and winner.ms and not remark:
            remark = f"the best takes {winner.ms / peer.ms:.3f} of its time"
        value = f"{amount(measure.of(peer.ms), measure)}{interval_text(peer, measure)}"
        yield _fact(peer.name, value, remark)
    yield _fact("device", view.device, f"recorded on {view.recorded}" if view.recorded else "")
    if view.checked:
        yield _fact("checked against", view.checked, "")


def _fact(name: str, value: str, remark: str) -> str:
    small = f" <small>({escape(remark)})</small>" if remark else ""
    return f"<div><dt>{escape(name)}</dt><dd>{escape(value)}{small}</dd></div>"


# Maps ----------------------------------------------------------------------------------------------


def _maps(view: AutotuneView) -> str:
    """Rows x columns of the first two parameters with several values; the others as small multiples."""
    wide = [n for n, values in view.axes.items() if len(values) > 1]
    if len(wide) < 2:
        return ""
    rows, columns, *rest = wide
    found = {tuple(p.constants[n] for n in wide): p for p in view.points}
    panels = list(itertools.product(*(view.axes[n] for n in rest)))
    most = min(MOST_MAPS, max(1, MOST_CELLS // (len(view.axes[rows]) * len(view.axes[columns]))))
    more = ""
    if len(panels) > most:
        best: dict[tuple[int, ...], float] = {}
        for (_, _, *others), point in found.items():
            best[tuple(others)] = min(best.get(tuple(others), math.inf), point.ms or math.inf)
        panels = sorted(panels, key=lambda others: best.get(others, math.inf))
        more = f"<p>the {most} of {len(panels)} maps with the best configurations</p>"
    fastest = min((p.ms for p in view.points if p.ms), default=1.0)
    maps = "".join(
        _map(view, (rows, columns), dict(zip(rest, others, strict=True)), found, fastest)
        for others in panels[:most]
    )
    signs = f"<p><small>italic: {escape(view.looked)}</small></p>"
    return f"<div class='panes'>{maps}</div>{more}{signs if view.two_stages else ''}"


def _map(
    view: AutotuneView,
    names: tuple[str, str],
    fixed: Mapping[str, int],
    found: Mapping[tuple[int, ...], Point],
    fastest: float,
) -> str:
    rows, columns = (view.axes[n] for n in names)
    head = "".join(f"<th>{c}</th>" for c in columns)
    body = "".join(
        f"<tr><th>{r}</th>"
        + "".join(_cell(found.get((r, c, *fixed.values())), fastest, view) for c in columns)
        + "</tr>"
        for r in rows
    )
    caption = ", ".join(f"{n}={v}" for n, v in fixed.items()) or view.measure.unit
    corner = f"<th>{escape(names[0])} \\ {escape(names[1])}</th>"
    return (
        f"<figure><figcaption>{escape(caption)}</figcaption>"
        f"<table><tr>{corner}{head}</tr>{body}</table></figure>"
    )


def _cell(point: Point | None, fastest: float, view: AutotuneView) -> str:
    """The measure, darker the closer to the best; a failure by its kind, its reason as the tip."""
    if point is None:
        return "<td title='not tried'>.</td>"
    if point.ms is None:
        return f"<td title='{escape(point.reason, quote=True)}'>x {escape(point.status)}</td>"
    share = round(100 * (fastest / point.ms) ** 2 * 0.6)
    colour = f"background:color-mix(in srgb,var(--ph-accent) {share}%,transparent)"
    mark = mark_of(point, view).strip()
    tip = escape(f"{time_text(point.ms, point.low, point.high)}, {point.stage}", quote=True)
    value = f"{view.measure.of(point.ms):.3g}"
    if mark == LOOK:
        value, mark = f"<i>{value}</i>", ""
    return f"<td style='{colour}' title='{tip}'>{value}{mark}</td>"


# Tables --------------------------------------------------------------------------------------------


def _table(view: AutotuneView) -> str:
    good = [p for p in view.points if not p.failed]
    if not good:
        return ""
    facts = [SHOWN[n] for n in view.facts if n in SHOWN]
    titles = ["", *view.axes, "ms", "95 % interval", "timed in", "", *facts]
    head = "".join(f"<th>{escape(t)}</th>" for t in titles)
    slowest = max(p.ms or 0.0 for p in good[:MOST_ROWS])
    rows = "".join(_row(p, view, slowest) for p in good[:MOST_ROWS])
    more = f"<p>{len(good) - MOST_ROWS} more in the frame</p>" if len(good) > MOST_ROWS else ""
    return _pane("Configurations", f"<table><tr>{head}</tr>{rows}</table>{more}", is_open=False)


SHOWN = {
    "registers": "registers",
    "spills": "spilled B",
    "shared_bytes": "shared B",
    "ctas_per_sm": "CTAs per SM",
    "stages": "stages",
}
"""Facts with a column, and its title."""


def _row(point: Point, view: AutotuneView, slowest: float) -> str:
    ms = point.ms or 0.0
    interval = "" if point.low is None or point.high is None else f"{point.low:.4g} .. {point.high:.4g}"
    width = 100 * ms / slowest
    bar = f"<span class='m' title='{ms:.4g} ms'><span style='width:{width:.0f}%'></span></span>"
    cells = [
        mark_of(point, view),
        *(str(point.constants[n]) for n in view.axes),
        f"{ms:.4g}",
        interval,
        point.stage,
    ]
    facts = [_number(point.facts, n) for n in view.facts if n in SHOWN]
    left = "".join(f"<td>{escape(c)}</td>" for c in cells)
    return f"<tr>{left}<td>{bar}</td>{''.join(f'<td>{f}</td>' for f in facts)}</tr>\n"


def _number(facts: Mapping[str, float], name: str) -> str:
    return f"{facts[name]:g}" if name in facts else ""


def _failures(view: AutotuneView) -> str:
    failed = [p for p in view.points if p.failed]
    if not failed:
        return ""
    head = "<tr><th>configuration</th><th>kind</th><th>reason</th></tr>"
    rows = "".join(
        f"<tr><td>{escape(p.label)}</td><td>{escape(p.status)}</td><td>{escape(p.reason)}</td></tr>\n"
        for p in failed[:MOST_ROWS]
    )
    more = f"<p>{len(failed) - MOST_ROWS} more in the frame</p>" if len(failed) > MOST_ROWS else ""
    return _pane(f"Failures ({len(failed)})", f"<table>{head}{rows}</table>{more}", is_open=False)


def _pane(title: str, body: str, *, is_open: bool) -> str:
    mark = " open" if is_open else ""
    return f"<details{mark}><summary>{escape(title)}</summary><figure>{body}</figure></details>\n"
