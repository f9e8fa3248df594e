"""A profiled call as html without scripts: the kernel's text with counts beside every line."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from phobos_nb.counts import counted
from phobos_nb.views.html import highlighted, sheet, style
from phobos_nb.views.profile import Pair, ProfileLine, ProfileView


def page(view: ProfileView) -> str:
    """The whole profile as one html element."""
    table = f"<thead>{_head(view)}</thead><tbody>{''.join(_rows(view))}</tbody>"
    parts = [
        f"<style>{style()}{sheet('profile')}</style>",
        f"<pre class='sig'><b>{escape(view.name)}</b> under Nsight Compute</pre>",
        f"<dl>{''.join(_facts(view))}</dl>",
        f"<p>{escape(_legend(view), quote=False)}</p>",
        f"<div class='prof'><table>{table}</table></div>",
    ]
    return f"<div class='ph'>{''.join(parts)}</div>"


def _facts(view: ProfileView) -> Iterable[str]:
    for name, (gpu, simulated) in view.totals.items():
        remark = ""
        if simulated is not None:
            said = "simulated too" if gpu == simulated else f"simulated {simulated:,}"
            remark = f" <small>({said})</small>"
        yield f"<div><dt>{escape(name)}</dt><dd>{gpu:,}{remark}</dd></div>"


def _legend(view: ProfileView) -> str:
    if not view.simulated:
        return "Sums over warps. The call was not simulated."
    if not view.different:
        return "Sums over warps. Every count of a line that is known is the simulator's too."
    what = counted(view.different, "count of a line is", "counts of lines are")
    return f"Sums over warps. {what} not the simulator's, marked below."


def _head(view: ProfileView) -> str:
    each = ("ncu", "simulator", "fewest") if view.simulated else ("ncu", "fewest")
    span = len(each)
    top = (
        "<th class='r'>line</th><th>instructions</th><th class='r'>barriers</th>"
        f"<th class='g' colspan={span}>shared wavefronts</th>"
        f"<th class='g' colspan={span}>sectors of 32 bytes</th><th class='g'>text</th>"
    )
    below = "".join(f"<th class='{'r g' if i == 0 else 'r'}'>{n}</th>" for i, n in enumerate(each))
    return f"<tr>{top}</tr><tr><th></th><th></th><th></th>{below}{below}<th class='g'></th></tr>"


def _rows(view: ProfileView) -> Iterable[str]:
    """A row per line from the first that cost something on: comments above a kernel cost nothing."""
    most = max((line.instructions for line in view.lines), default=0)
    first = next((n for n, x in enumerate(view.lines) if x.number and x.costs), 0)
    for number, line in enumerate(view.lines):
        if line.costs if number < first else True:
            yield _row(view, line, most)
            yield from (_note(view, note) for note in line.notes)


def _row(view: ProfileView, line: ProfileLine, most: int) -> str:
    """Counts stand left of the text, which may be as long as it likes."""
    code = escape(line.text) if not line.number else highlighted(line.text, "phobos")
    pairs = "".join(_pair(view, pair) for pair in (line.wavefronts, line.sectors))
    idle = "" if line.costs else " class='z'"
    return (
        f"<tr{idle}><td class='r q'>{line.number or ''}</td>"
        f"<td>{_bar(line, most)}</td><td class='r'>{_number(line.barriers)}</td>{pairs}"
        f"<td class='g code'>{code}</td></tr>\n"
    )


def _note(view: ProfileView, note: str) -> str:
    """A row below a line: why its counts differ."""
    before = "<td></td>" * 3 + ("<td class='g'></td>" + "<td></td>" * (2 if view.simulated else 1)) * 2
    return f"<tr>{before}<td class='g note'>{escape(note, quote=False)}</td></tr>\n"


def _number(count: int) -> str:
    return f"{count:,}" if count else ""


def _bar(line: ProfileLine, most: int) -> str:
    if not line.instructions:
        return ""
    width = max(2, round(100 * line.instructions / most))
    return f"<span class='m' title=''><span style='width:{width}%'></span></span>{line.instructions:,}"


def _pair(view: ProfileView, pair: Pair) -> str:
    """The GPU's count, the simulator's and the fewest; a difference is marked in both."""
    mark = " d" if pair.differs else ""
    if pair.empty:
        return "<td class='g'></td>" + "<td></td>" * (2 if view.simulated else 1)
    simulated = ""
    if view.simulated:
        if not pair.compared:
            simulated = "<td></td>"
        elif pair.simulated is None:
            simulated = "<td class='r q'>not known</td>"
        else:
            simulated = f"<td class='r{mark}'>{pair.simulated:,}</td>"
    return f"<td class='r g{mark}'>{pair.gpu:,}</td>{simulated}<td class='r q'>{pair.fewest:,}</td>"
