"""A search of several shapes as html without scripts: the set, and what each shape loses by it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from phobos_nb.compilation.dispatch_table import Point
from phobos_nb.tune.outcome import label
from phobos_nb.tune.shapes_result import ShapesTuning
from phobos_nb.views.html import style


def page(found: ShapesTuning) -> str:
    """The whole as one html element."""
    identity = found.table.identity
    recorded = f" (recorded: {found.recorded})" if found.recorded else ""
    parts = [
        f"<style>{style()}</style>",
        f"<pre class='sig'><b>{escape(identity.kernel)}</b> {len(found.tunings)} shapes on "
        f"{escape(identity.device + recorded)}</pre>",
        f"<p>{escape(_headline(found))}</p>",
        f"<table><thead>{_head(found)}</thead><tbody>{''.join(_rows(found))}</tbody></table>",
        "".join(_failures(found)),
    ]
    return f"<div class='ph'>{''.join(parts)}</div>"


def _headline(found: ShapesTuning) -> str:
    if not found.table.members:
        return "No configuration gave a right answer."
    stopped = f"; stopped: {found.stopped}" if found.stopped else ""
    return f"mean regret {found.mean_regret:.2%} with {len(found.table.members)} configurations{stopped}"


def _head(found: ShapesTuning) -> str:
    names = [f"{i}: {label(m.constants)}" for i, m in enumerate(found.table.members)]
    return _row("th", ["shape", "weight", "best", *names])


def _rows(found: ShapesTuning) -> Iterable[str]:
    for point in found.table.points:
        extents = " ".join(f"{n}={v}" for n, v in point.extents.items())
        head = "".join(
            f"<td>{t}</td>" for t in (escape(extents), f"{point.weight:g}", f"{point.best:.4g} ms")
        )
        yield f"<tr>{head}{''.join(_cells(found, point))}</tr>"


WORST = 0.25
"""The loss from which on a cell has no colour."""


def _cells(found: ShapesTuning, point: Point) -> Iterable[str]:
    """Each member's loss at a shape, darker the smaller; the one that calls take has a star."""
    chosen = found.table.choose_member(point.extents)
    for number, time in enumerate(point.times):
        if time is None:
            yield "<td>not measured</td>"
            continue
        loss = time / point.best - 1.0
        share = round(60 * max(0.0, 1.0 - loss / WORST))
        colour = f"background:color-mix(in srgb,var(--ph-accent) {share}%,transparent)"
        star = "* " if number == chosen else ""
        yield f"<td style='{colour}' title='{time:.4g} ms'>{star}{loss:+.1%}</td>"


def _row(cell: str, texts: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{cell}>{escape(t)}</{cell}>' for t in texts)}</tr>"


def _failures(found: ShapesTuning) -> Iterable[str]:
    """Failures of every shape, folded."""
    for tuning in found.tunings:
        if tuning.failures:
            extents = " ".join(f"{n}={v}" for n, v in tuning.record.identity.extents.items())
            lines = [f"{f.label}: {f.kind.value}: {f.reason}" for f in tuning.failures]
            title, text = f"{extents}: {len(lines)} failed", "\n".join(lines)
            yield f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"
