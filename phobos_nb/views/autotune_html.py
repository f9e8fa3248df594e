"""A search as html without scripts: facts, maps of two parameters, every configuration, failures."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from html import escape

from phobos_nb.views.autotune import AutotuneView, Point
from phobos_nb.views.autotune_text import MARKS, headline, time_text
from phobos_nb.views.html import style

MOST_ROWS = 40
"""Rows of the table of configurations; a saved cell stays below 150 KB."""

MOST_MAPS = 8
"""Small maps, one for each value of the other parameters."""


def page(view: AutotuneView) -> str:
    """The whole view as one html element."""
    parts = [
        f"<style>{style()}</style>",
        f"<pre class='sig'><b>{escape(view.kernel)}</b> {escape(_sizes(view))}</pre>",
        f"<dl>{''.join(_facts(view))}</dl>",
        f"<p>{escape(headline(view))}</p>",
        _maps(view),
        _table(view),
        _failures(view),
    ]
    return f"<div class='ph'>{''.join(parts)}</div>"


def _sizes(view: AutotuneView) -> str:
    return ", ".join(f"{n}={v}" for n, v in view.extents.items())


def _facts(view: AutotuneView) -> Iterable[str]:
    winner = view.winner
    if winner is not None:
        yield _fact("best", winner.label, time_text(winner.ms, winner.low, winner.high))
    for peer in view.peers:
        ratio = ""
        if winner is not None and winner.ms:
            ratio = f"the best takes {winner.ms / peer.ms:.3f} of it"
        yield _fact(peer.name, time_text(peer.ms, peer.low, peer.high), ratio)
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
    fastest = min((p.ms for p in view.points if p.ms), default=1.0)
    maps: list[str] = []
    for others in itertools.product(*(view.axes[n] for n in rest)):
        if len(maps) == MOST_MAPS:
            break
        caption = ", ".join(f"{n}={v}" for n, v in zip(rest, others, strict=True))
        head = "".join(f"<th>{v}</th>" for v in view.axes[columns])
        body = "".join(
            f"<tr><th>{r}</th>"
            + "".join(_cell(found.get((r, c, *others)), fastest) for c in view.axes[columns])
            + "</tr>"
            for r in view.axes[rows]
        )
        corner = f"<th>{escape(rows)} \\ {escape(columns)}</th>"
        maps.append(
            f"<figure><figcaption>{escape(caption) or 'ms'}</figcaption>"
            f"<table><tr>{corner}{head}</tr>{body}</table></figure>"
        )
    return f"<div class='panes'>{''.join(maps)}</div>"


def _cell(point: Point | None, fastest: float) -> str:
    """The time, darker the closer to the fastest; a failure by its kind, its reason as the tip."""
    if point is None:
        return "<td title='not tried'>.</td>"
    if point.ms is None:
        return f"<td title='{escape(point.reason, quote=True)}'>x {escape(point.status)}</td>"
    share = round(100 * (fastest / point.ms) ** 2 * 0.6)
    colour = f"background:color-mix(in srgb,var(--ph-accent) {share}%,transparent)"
    mark = MARKS[point.status].strip()
    tip = escape(time_text(point.ms, point.low, point.high), quote=True)
    return f"<td style='{colour}' title='{tip}'>{point.ms:.3g}{mark}</td>"


# Tables --------------------------------------------------------------------------------------------


def _table(view: AutotuneView) -> str:
    good = [p for p in view.points if not p.failed]
    if not good:
        return ""
    titles = ["", *view.axes, "ms", "95 % interval", "", *(SHOWN[n] for n in view.facts if n in SHOWN)]
    head = "".join(f"<th>{escape(t)}</th>" for t in titles)
    slowest = max(p.ms or 0.0 for p in good[:MOST_ROWS])
    rows = "".join(_row(p, view, slowest) for p in good[:MOST_ROWS])
    more = f"<p>{len(good) - MOST_ROWS} more in the frame</p>" if len(good) > MOST_ROWS else ""
    return _pane("Configurations", f"<table><tr>{head}</tr>{rows}</table>{more}", is_open=True)


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
        MARKS[point.status],
        *(str(point.constants[n]) for n in view.axes),
        f"{ms:.4g}",
        interval,
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
