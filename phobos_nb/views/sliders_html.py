"""Sliders as html: the parts that the widget shows, and a whole page without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.resources import files

from phobos_nb.views.compilation import Note
from phobos_nb.views.html import style
from phobos_nb.views.roofline import RooflineView
from phobos_nb.views.roofline_html import BARS, body, needs_table
from phobos_nb.views.sliders import (
    Place,
    Slider,
    SlidersView,
    figures,
    refused,
    status,
    time_parts,
)
from phobos_nb.views.svg import PAGE, ruler


@cache
def sheet() -> str:
    """The style sheet of sliders, with that of every view."""
    own = files("phobos_nb.views").joinpath("sliders.css").read_text("utf-8")
    return f"{style()}{BARS}{own}"


def page(view: SlidersView) -> str:
    """The whole view as one html element: sliders become a table of their values."""
    shown = parts(view)
    return (
        f"<div class='ph ph-sliders'><style>{sheet()}</style>"
        f"<pre class='sig'>{escape(view.title)}</pre>{_table(view)}"
        f"<p class='status {view.state}'>{escape(status(view))}</p>"
        f"{shown['facts']}{shown['notes']}{shown['memory']}{shown['roofline']}</div>"
    )


def parts(view: SlidersView) -> dict[str, str]:
    """What stands below the sliders, as html by its place."""
    return {
        "facts": f"<dl>{''.join(_facts(view))}</dl>" if view.shown else "",
        "notes": _notes(view),
        "memory": _memory(view),
        "roofline": _roofline(view),
    }


def _table(view: SlidersView) -> str:
    rows = [_row(s) for s in view.sliders if not s.own or s.at]
    rest = [s.name for s in view.sliders if s.own and not s.at]
    left = f"<p>Left to the compiler: {escape(', '.join(rest))}.</p>" if rest else ""
    return f"<table class='values'>{''.join(rows)}</table>{left}"


def _row(slider: Slider) -> str:
    cells = "".join(_value(p, here=i == slider.at) for i, p in enumerate(slider.places))
    tip = f" title='{escape(slider.meaning)}'" if slider.meaning else ""
    reasons = "".join(
        f"<div class='why'>{escape(', '.join(values))}: {escape(why)}</div>"
        for why, values in refused(slider).items()
    )
    return f"<tr><th{tip}>{escape(slider.name)}</th><td class='w'>{cells}{reasons}</td></tr>"


def _value(place: Place, *, here: bool) -> str:
    """The present value is framed; one that cannot work is struck through, its reason the tip."""
    kind = " ".join(["value", *(["here"] if here else []), *(["refused"] if place.reason else [])])
    tip = f" title='{escape(place.reason)}'" if place.reason else ""
    mark = "s" if place.reason else "span"
    return f"<{mark} class='{kind}'{tip}>{escape(place.label)}</{mark}> "


def _facts(view: SlidersView) -> Iterator[str]:
    value, remark = time_parts(view.timing)
    yield _fact("time", value or "-", remark)
    for name, value, remark, was in figures(view):
        yield _fact(name, value, remark, was)


def _fact(name: str, value: str, remark: str, was: str = "") -> str:
    small = f" <small>({escape(remark)})</small>" if remark else ""
    before = f" <small class='was'>was {escape(was)}</small>" if was else ""
    return f"<div><dt>{escape(name)}</dt><dd>{escape(value)}{before}{small}</dd></div>"


def _notes(view: SlidersView) -> str:
    if view.shown is None or not view.shown.notes:
        return ""
    return f"<ul>{''.join(map(_note, view.shown.notes))}</ul>"


def _note(note: Note) -> str:
    place = "" if note.line is None else f" <small>line {note.line}</small>"
    mark = " class='w'" if note.kind == "warning" else ""
    return f"<li{mark}>{escape(note.text)}{place}</li>"


def _memory(view: SlidersView) -> str:
    memory = None if view.shown is None else view.shown.memory
    if memory is None:
        return ""
    drawn = ruler(memory, PAGE) if memory.total else ""
    return f"<p>Shared memory: {escape(memory.headline)}</p>{drawn}"


def _roofline(view: SlidersView) -> str:
    if view.roofline is None or not view.roofline.points:
        why = "Counting its work ..." if view.counting else view.missing
        return f"<p>{escape(why)}</p>" if why else ""
    point = view.roofline.points[-1]
    words = "".join(f"<li>{escape(sentence)}</li>" for sentence in point.words)
    kind = "measured" if view.roofline.roofs.measured else "nominal"
    head = f"Roofline: {kind} roofs of {view.roofline.roofs.device}; {point.method}."
    table = needs_table(point)
    return f"<p>{escape(head)}</p><ul>{words}</ul>{table}{body(view.roofline)}{_trail(view.roofline)}"


def _trail(roofline: RooflineView) -> str:
    """The numbers of the points; a single one needs none."""
    if len(roofline.points) < 2:
        return ""
    names = [f"{i + 1}: {p.label}" for i, p in enumerate(roofline.points)]
    return f"<p>{escape('; '.join(names))} (now).</p>"
