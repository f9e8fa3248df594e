"""Two compilations as html without scripts: a table of figures, every stage's difference folded."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from phobos_nb.views.difference import PaneDifference
from phobos_nb.views.html import style

STYLE = """
.ph .gone{background:color-mix(in srgb,var(--jp-error-color1,#cf222e) 18%,transparent)}
.ph .new{background:color-mix(in srgb,var(--jp-success-color1,#1a7f37) 18%,transparent)}
.ph .hunk,.ph tr.same td{color:var(--ph-muted)}
"""
"""Beside `html.style`; the sign at a line's start says the same as its colour."""

CLASSES = {"-": "gone", "+": "new", "@": "hunk"}


def page(
    names: tuple[str, str], facts: Sequence[tuple[str, str, str]], panes: Sequence[PaneDifference]
) -> str:
    """The whole as one html element."""
    head = f"<pre class='sig'>A: <b>{escape(names[0])}</b>\nB: <b>{escape(names[1])}</b></pre>"
    rows = "".join(_row(*fact) for fact in facts)
    table = f"<table><tr><th></th><th>A</th><th>B</th></tr>{rows}</table>"
    folded = "".join(_pane(shown) for shown in panes)
    return f"<div class='ph'><style>{style()}{STYLE}</style>{head}{table}{folded}</div>"


def _row(name: str, one: str, other: str) -> str:
    opening, sign = ("<tr class=same>", "") if one == other else ("<tr>", "&ne; ")
    return f"{opening}<th>{sign}{escape(name)}</th><td>{escape(one)}</td><td>{escape(other)}</td></tr>"


def _pane(shown: PaneDifference) -> str:
    title = escape(f"{shown.title}: {shown.summary}")
    if not shown.lines:
        return f"<p>{title}</p>"
    lines = "".join(_line(line) for line in shown.lines)
    return f"<details><summary>{title}</summary><figure><pre>{lines}</pre></figure></details>\n"


def _line(line: str) -> str:
    kind = CLASSES.get(line[:1], "")
    name = f" class={kind}" if kind else ""
    return f"<span{name}>{escape(line, quote=False)}\n</span>"
