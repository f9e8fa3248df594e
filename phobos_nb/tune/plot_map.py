"""The map of a search as a figure: two parameters, every combination of the others a panel."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from phobos_nb.tune.outcome import Measured, Outcome
from phobos_nb.tune.plot_style import LOOKS, Shown

if TYPE_CHECKING:
    from phobos_nb.tune.figure import Figure

MOST = 16
"""Panels of one figure: the first combinations."""

SIGNS = {"winner": "\u2605 ", "tie": "\u25c6 ", "ok": "", "look": ""}


def draw_map(shown: Shown, rows: str | None = None, columns: str | None = None) -> Figure:
    """The figure; `ValueError` for a parameter that there is not, or fewer than two."""
    from phobos_nb.tune.figure import Figure

    space = shown.tuning.record.space
    rows, columns = chosen(space, rows, columns)
    others = [n for n, values in space.items() if len(values) > 1 and n not in (rows, columns)]
    panels = list(itertools.product(*(space[n] for n in others)))[:MOST]
    across = min(4, len(panels))
    down = math.ceil(len(panels) / across)
    figure: Any = Figure(figsize=(max(4.5, 3.2 * across), 0.8 + 2.8 * down), layout="constrained")
    grid: Any = figure.subplots(down, across, squeeze=False)
    best, worst = _range(shown)
    picture: Any = None
    for axes, panel in itertools.zip_longest(grid.flat, panels):
        if panel is None:
            axes.set_visible(False)
            continue
        fixed = dict(zip(others, panel, strict=True))
        picture = _panel(axes, shown, (rows, columns), fixed, (best, worst))
    bar = figure.colorbar(picture, ax=grid, shrink=0.8)
    bar.set_label(shown.measure.unit)
    signs = f"\nitalic: {shown.looked}" if shown.looked else ""
    figure.suptitle(shown.title + signs, fontsize=10)
    return figure


def chosen(space: Mapping[str, Sequence[int]], rows: str | None, columns: str | None) -> tuple[str, str]:
    """The two parameters: those given, else the first with several values."""
    for name in (rows, columns):
        if name is not None and name not in space:
            raise ValueError(f"no parameter {name!r}; there are {', '.join(space)}")
    wide = sorted(space, key=lambda n: len(space[n]) < 2)
    free = [n for n in wide if n not in (rows, columns)]
    first = rows if rows is not None else free.pop(0) if free else ""
    second = columns if columns is not None else free.pop(0) if free else ""
    if not first or not second or first == second:
        raise ValueError("a map needs two parameters")
    return first, second


def _range(shown: Shown) -> tuple[float, float]:
    """The values of the best and the worst configuration."""
    values = [shown.measure.of(o.median) for o in shown.measured] or [0.0, 1.0]
    return min(values), max(values)


def _panel(
    axes: Any,
    shown: Shown,
    names: tuple[str, str],
    fixed: Mapping[str, int],
    span: tuple[float, float],
) -> Any:
    rows, columns = (shown.tuning.record.space[n] for n in names)
    table = [[_find(shown, {**fixed, names[0]: r, names[1]: c}) for c in columns] for r in rows]
    values = [
        [shown.measure.of(o.median) if isinstance(o, Measured) else math.nan for o in line]
        for line in table
    ]
    ramp = "Blues" if shown.measure.more_is_better else "Blues_r"
    picture = axes.imshow(values, cmap=ramp, vmin=span[0], vmax=span[1], aspect="auto")
    for r, line in enumerate(table):
        for c, outcome in enumerate(line):
            _cell(axes, shown, outcome, (c, r), span)
    axes.set_xticks(range(len(columns)), [str(v) for v in columns])
    axes.set_yticks(range(len(rows)), [str(v) for v in rows])
    axes.set_xlabel(names[1])
    axes.set_ylabel(names[0])
    axes.set_title(", ".join(f"{n} = {v}" for n, v in fixed.items()), fontsize=9)
    return picture


def _find(shown: Shown, constants: Mapping[str, int]) -> Outcome | None:
    """The outcome of a configuration, names with one value left out."""
    for outcome in shown.tuning.record.outcomes.values():
        if all(outcome.constants[n] == v for n, v in constants.items()):
            return outcome
    return None


def _cell(
    axes: Any, shown: Shown, outcome: Outcome | None, place: tuple[int, int], span: tuple[float, float]
) -> None:
    """The value, with a sign for the winner and ties; a cross for a failure; a dot where untried.

    Italic ones have only a first look.
    """
    if not isinstance(outcome, Measured):
        text, colour = ("\u00b7", "black") if outcome is None else ("\u2715", LOOKS["failed"].colour)
        axes.text(*place, text, ha="center", va="center", color=colour)
        return
    value = shown.measure.of(outcome.median)
    share = (value - span[0]) / (span[1] - span[0] or 1.0)
    dark = share > 0.6 if shown.measure.more_is_better else share < 0.4
    status = shown.status(outcome)
    weight = "normal" if status in ("ok", "look") else "bold"
    slant = "italic" if status == "look" else "normal"
    text = f"{SIGNS[status]}{value:.3g}"
    axes.text(*place, text, ha="center", va="center", fontsize=8, weight=weight,
              style=slant, color="white" if dark else "black")  # fmt: skip
