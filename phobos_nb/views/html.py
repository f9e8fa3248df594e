"""A compilation as html that needs no script: saved notebooks, nbviewer, GitHub and email show it.

Panes are `<details>`: a row of buttons with the open panes side by side where the browser can, an
accordion where it cannot, a plain list where styles are stripped. Lines that came from one source
line are marked together by a CSS rule per line. There are no ids, so any number of these can stand
in one notebook.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import accumulate

from phobos_nb.views.compilation import Barrier, CompilationView, Fact, Note, barrier_label
from phobos_nb.views.highlight import pieces
from phobos_nb.views.listing import Line, Listing
from phobos_nb.views.shared_memory import Buffer, SharedMemory
from phobos_nb.views.svg import PAGE, ruler

LISTINGS_BYTES = 110_000
"""Bytes for all listings of a cell: saved, it stays below 150 KB."""

OPEN = ("Source", "CUDA")
"""The panes that are open at first."""


@cache
def sheet(name: str) -> str:
    """The text of a style sheet of this room, by its name without `.css`."""
    return files("phobos_nb.views").joinpath(f"{name}.css").read_text("utf-8")


def style() -> str:
    """The style sheet of all views, one rule after the other, for a `<style>` element."""
    return sheet("style")


def page(view: CompilationView, opened: Sequence[str] = OPEN) -> str:
    """The whole view as one html element; `opened` are the titles of the panes open at first."""
    origins = {line.origin for listing in view.listings[:1] for line in listing.lines}
    parts = [
        f"<style>{style()}{_links(n for n in origins if n is not None)}</style>",
        _signature(view),
        f"<dl>{''.join(map(_fact, view.facts))}</dl>",
        f"<ul>{''.join(map(_note, view.notes))}</ul>" if view.notes else "",
        f"<div class='panes'>{''.join(_panes(view, opened))}</div>",
    ]
    return f"<div class='ph'>{''.join(parts)}</div>"


def _links(origins: Iterable[int]) -> str:
    """Pointing at a line, or moving to it with Tab, marks all lines of the same origin."""
    rules = (f".ph:has(.o{n}:hover) .o{n},.ph:has(.o{n}:focus) .o{n}" for n in sorted(origins))
    return f"{','.join(rules)}{{background:var(--ph-mark);border-left-color:var(--ph-accent)}}"


def _signature(view: CompilationView) -> str:
    parameters = escape(", ".join(view.parameters))
    return f"<pre class='sig'><b>{escape(view.name)}</b>({parameters})</pre>"


def _fact(fact: Fact) -> str:
    remark = f" <small>({escape(fact.remark)})</small>" if fact.remark else ""
    return f"<div><dt>{escape(fact.name)}</dt><dd>{escape(fact.value)}{remark}</dd></div>\n"


def _note(note: Note) -> str:
    place = "" if note.line is None else f" <small>line {note.line}</small>"
    if note.kind == "warning":
        return f"<li class='w'>warning: {escape(note.text)}{place}</li>"
    return f"<li>{escape(note.text)}{place}</li>"


def _panes(view: CompilationView, opened: Sequence[str]) -> Iterable[str]:
    bodies = list(zip((x.title for x in view.listings), _listings(view.listings), strict=True))
    if view.memory is not None:
        bodies.append(("Shared memory", _memory(view.memory)))
    bodies.append(("Barriers", _barriers(view.barriers)))
    return (_pane(title, body, is_open=title in opened) for title, body in bodies)


def _pane(title: str, body: str, *, is_open: bool) -> str:
    mark = " open" if is_open else ""
    caption = f"<figcaption>{escape(title)}</figcaption>"
    return (
        f"<details{mark}><summary>{escape(title)}</summary><figure>{caption}{body}</figure></details>\n"
    )


def _listings(listings: Sequence[Listing]) -> list[str]:
    """The listings' bodies, cut where they would not fit together."""
    lines = [_lines(listing) for listing in listings]
    budgets = shares([sum(map(_saved, shown)) for shown in lines], LISTINGS_BYTES)
    return list(map(_body, listings, lines, budgets))


def shares(wanted: Sequence[int], total: int) -> list[int]:
    """What each gets of a total: the small all they want, the large equal parts of the rest."""
    given = [0] * len(wanted)
    left = total
    for done, index in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        given[index] = min(wanted[index], left // (len(wanted) - done))
        left -= given[index]
    return given


def _saved(html: str) -> int:
    """Bytes in a saved notebook, where quotes and line ends are escaped."""
    return len(html.encode()) + html.count('"') + html.count("\n")


def _body(listing: Listing, lines: Sequence[str], budget: int) -> str:
    if listing.missing:
        return f"<p>{escape(listing.missing)}</p>"
    sizes = accumulate(map(_saved, lines))
    shown = sum(size <= budget for size in sizes)
    left = len(lines) - shown
    more = (
        f"<p>{left:,} more lines. The whole text: <code>{escape(listing.whole)}</code></p>"
        if left
        else ""
    )
    return f"<pre>{''.join(lines[:shown])}</pre>{more}"


def _lines(listing: Listing) -> list[str]:
    """The lines as html. The scale of bars is lines' own work; what else there is may be more."""
    most = max((line.instructions for line in listing.lines if not line.tip), default=0)
    return [_line(line, listing.language, most) for line in listing.lines]


def _line(line: Line, language: str, most: int) -> str:
    """One line; a source line can be reached with Tab and has its instruction bar if `most` is not 0."""
    text = highlighted(line.text, language)
    origin = "" if line.origin is None else f" o{line.origin}' data-n='{line.origin}"
    reached = language == "phobos" and line.origin is not None and line.text.strip()
    focus = " tabindex=0" if reached else ""
    bar = _bar(line, most) if most else ""
    return f"<span class='l{origin}'{focus}>{bar}{text}\n</span>"


def _bar(line: Line, most: int) -> str:
    """How many instructions the line became, as a bar whose tip names them; muted if not its work."""
    if not line.mix:
        return "<span class='m'></span>"
    named = ", ".join(f"{count} {family}" for family, count in line.mix)
    tip = f"{line.tip}: {named}" if line.tip else named
    width = min(100, max(2, round(100 * line.instructions / most)))
    kind = "m a" if line.tip else "m"
    return f"<span class='{kind}' title='{escape(tip)}'><span style='width:{width}%'></span></span>"


TAGS = {"k": ("<b>", "</b>"), "c": ("<i>", "</i>"), "": ("", "")}


def highlighted(text: str, language: str) -> str:
    """A line of a listing as html, its words marked by what they are."""
    return "".join(_piece(kind, piece) for kind, piece in pieces(text, language))


def _piece(kind: str, text: str) -> str:
    opening, closing = TAGS.get(kind) or (f"<span class={kind}>", "</span>")
    return f"{opening}{escape(text, quote=False)}{closing}"


def _memory(memory: SharedMemory) -> str:
    if not memory.total:
        return f"<p>{escape(memory.headline)}</p>"
    head = "<tr><th class='r'>offset</th><th class='r'>bytes</th><th>buffer</th><th>holds</th></tr>"
    rows = "".join(map(_buffer, sorted(memory.buffers, key=lambda b: (b.offset, b.name))))
    return f"<p>{escape(memory.headline)}</p>{ruler(memory, PAGE)}<table>{head}{rows}</table>"


def _buffer(buffer: Buffer) -> str:
    origin = "" if buffer.line is None else f" (line {buffer.line})"
    return (
        f"<tr><td class='r'>{buffer.offset:,}</td><td class='r'>{buffer.size:,}</td>"
        f"<td>{escape(buffer.name)}</td><td>{escape(buffer.what)}{origin}</td></tr>"
    )


def _barriers(barriers: tuple[Barrier, ...]) -> str:
    if not barriers:
        return "<p>No barriers: no thread reads what another one wrote.</p>"
    rows = "".join(
        f"<tr><td>{escape(barrier_label(b))}</td><td class='w'>{escape(b.reason)}</td></tr>"
        for b in barriers
    )
    return f"<table>{rows}</table>"
