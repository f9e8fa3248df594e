"""A comparison as html without scripts: what is wrong where, why, and the lines of the source."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from phobos_nb.simulate.difference import SHOWN, Change, Difference, number
from phobos_nb.simulate.operands import Operand
from phobos_nb.views.comparison import ComparisonView, DifferenceView, SourceLine
from phobos_nb.views.html import highlighted, sheet, style


def page(view: ComparisonView) -> str:
    """The whole as one html element."""
    state = "ok" if view.agrees else "bad"
    sign = "&#10003;" if view.agrees else "&#10007;"
    parts = [
        f"<style>{style()}{sheet('comparison')}</style>",
        f"<p class='sum {state}'><b>{sign}</b> {escape(view.summary or 'nothing was compared')}</p>",
        *(_difference(d) for d in view.differences),
        *(f"<p class='rem'>{escape(r)}</p>" for r in view.remarks),
    ]
    return f"<div class='ph'><div class='cmp'>{''.join(parts)}</div></div>"


def _difference(view: DifferenceView) -> str:
    d = view.difference
    return "".join(
        [
            "<section>",
            f"<p class='kind'><b>{escape(d.kind)}</b>{'' if d.certain else GUESS}</p>",
            f"<p class='why'>{_prose(d.explanation)}</p>",
            _source(view.source, view.change),
            f"<dl>{''.join(_facts(d))}</dl>",
            _list("Also right" if d.change else "Look at", _others(d)),
            _operands(d.operands),
            _list("Tried, and not the cause", d.excluded),
            "</section>",
        ]
    )


GUESS = " a guess: no experiment shows it"


def _others(d: Difference) -> tuple[str, ...]:
    """The candidates but for the change that stands in the source already."""
    shown = f"`{d.change.should}` in place of `{d.change.was}`" if d.change else None
    return tuple(c for c in d.candidates if shown is None or shown not in c)


def _facts(d: Difference) -> Iterable[str]:
    facts = {"first wrong element": d.where, "found": number(d.found), "wanted": number(d.wanted)}
    if d.wrong:
        facts["elements that differ"] = f"{d.wrong:,} of {d.total:,}"
    else:
        facts = {"element": d.where, "elements that differ": "none on this schedule"}
    if d.writer is not None:
        facts["stored by CTA"] = ", ".join(map(str, d.writer.cta))
        facts["thread"] = f"{d.writer.thread} (lane {d.writer.lane})"
        facts["line"] = f"{d.writer.place.line}"
        if d.step is not None:
            facts["step of its CTA"] = f"{d.step:,}"
    elif d.wrong:
        facts["stored by"] = "nobody"
    for name, value in facts.items():
        yield f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"


def _source(lines: tuple[SourceLine, ...], change: Change | None) -> str:
    if not lines:
        return ""
    return f"<figure><pre>{''.join(_line(x, change) for x in lines)}</pre></figure>"


def _line(line: SourceLine, change: Change | None) -> str:
    if not line.number:
        return "<span class='gap'>     ...\n</span>"
    code = highlighted(line.text, "phobos")
    sign = {"change": "-", "look": ">"}.get(line.mark, " ")
    shown = f"<span class='{line.mark}'>{sign}{line.number:>4} {code}\n</span>"
    if line.mark == "change" and change is not None:
        shown += f"<span class='new'>+     {escape(_changed(line.text, change), quote=False)}\n</span>"
    return shown


def _changed(text: str, change: Change) -> str:
    """The line with the change made, where its text stands in the line as it is; else the new part."""
    if change.was and text.count(change.was) == 1:
        return text.replace(change.was, change.should)
    indent = text[: len(text) - len(text.lstrip())]
    return indent + (change.should or f"(without {change.was})")


def _operands(operands: tuple[Operand, ...]) -> str:
    if not operands:
        return ""
    shown = "".join(f"{escape(str(o), quote=False)}\n" for o in operands[: 2 * SHOWN])
    return f"<details><summary>What it was computed from</summary><pre>{shown}</pre></details>"


def _list(title: str, items: tuple[str, ...]) -> str:
    if not items:
        return ""
    rows = "".join(f"<li>{_prose(x)}</li>" for x in items)
    return f"<details><summary>{escape(title)}</summary><ul>{rows}</ul></details>"


def _prose(text: str) -> str:
    """Text with the parts in backquotes as code."""
    parts = text.split("`")
    return "".join(
        f"<code>{escape(x, quote=False)}</code>" if i % 2 else escape(x, quote=False)
        for i, x in enumerate(parts)
    )
