"""From a change that makes the values right to the kind of fault that it undoes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from phobos_nb.simulate.difference import Kind, Verdict
from phobos_nb.simulate.experiments import cut, ragged, twice
from phobos_nb.simulate.mending import REFUSED, Mend, Search, mended, search
from phobos_nb.simulate.roundings import like_rounding, overflows
from phobos_nb.simulate.trial import Arrays, Cta, Meaning, Question

KINDS: dict[str, Kind] = {
    "index": "wrong index",
    "bound": "wrong index",
    "operand": "wrong operation",
    "operation": "wrong operation",
    "order": "wrong operation",
    "type": "wrong operation",
    "padding": "tail",
}
"""By what a change is about; a change that only matters in partial tiles is one of a tail."""


def blamed(question: Question, found: Search) -> Verdict:
    """The verdict of the likeliest change; others that do as well are candidates."""
    mends = found.mends
    tail = whole_tiles(question, mends[0])
    if tail:
        masks = search(question, ("padding",)).mends
        mends = sorted([*masks, *mends], key=_of_a_tail)
    first, *others = mends
    kind: Kind = "tail" if tail else KINDS[first.slip.role]
    if first.slip.role == "type" and like_rounding(question.found, question.right, question.wrong):
        kind = "rounding"
    if kind == "tail" and not tail and not any(ragged(question.trial)):
        kind = "wrong operation"
    over = first.slip.role == "type" and overflows(question.found, question.right)
    words = (first.words, tail, "a number is too large for its type" if over else "")
    said = "; ".join(filter(None, words))
    return Verdict(kind, said, alternatives(first, others), change=first.change)


def _of_a_tail(mend: Mend) -> tuple[int, int]:
    return TAILS.index(mend.slip.role), mend.slip.cost


REGRIDDED = 2.0
"""Seconds that a call with another grid may take."""
TAILS = ("padding", "bound", "index", "operand", "operation", "order", "type")
"""What a fault of tails is likely to be about."""


def alternatives(first: Mend, others: list[Mend]) -> tuple[str, ...]:
    """Other changes, as likely, at other lines."""
    likely = [m for m in others if m.slip.cost <= first.slip.cost]
    by_line = {m.line: m.words for m in reversed(likely) if m.line != first.line}
    return tuple(by_line.values())


def whole_tiles(question: Question, mend: Mend) -> str:
    """Whether the change does nothing where an extent is whole tiles: then it is about the tail."""
    trial = question.trial
    text = trial.text
    wrong = None if text is None else text.changed(None)
    if wrong is None:
        return ""
    for symbol, extent, whole in ragged(trial):
        arrays = cut(trial, symbol, whole)
        if not _alike(question, arrays, wrong, mend.meaning):
            continue
        if _alike(question, twice(trial, symbol, whole), wrong, mend.meaning):
            return f"nothing is wrong where {symbol} is {whole}, whole tiles, in place of {extent}"
    return ""


def _alike(question: Question, arrays: Arrays, wrong: Meaning, right: Meaning) -> bool:
    try:
        a, b = (meaning(arrays)[question.name] for meaning in (wrong, right))
    except REFUSED:
        return False
    return bool(a.size) and not question.standard.differ_anywhere(question.name, a, b)


def regridded(question: Question) -> Verdict | None:
    """Another grid with which nothing is wrong."""
    text = question.trial.text
    meaning = None if text is None else text.changed(None)
    if text is None or meaning is None:
        return None
    for grid in _grids(text.grid):
        try:
            outputs = meaning(question.trial.arrays, None, grid, REGRIDDED)
        except REFUSED:
            continue
        if mended(question, outputs):
            words = f"the values are right with grid={grid} in place of {text.grid}"
            return Verdict("wrong operation", words)
    return None


def _grids(grid: Cta) -> Iterator[Cta]:
    """Its sizes in other orders, and larger along one axis."""
    for order in permutations(grid):
        if order != grid:
            yield order[0], order[1], order[2]
    for axis in range(3):
        for size in (grid[axis] + 1, 2 * grid[axis]):
            larger = [*grid]
            larger[axis] = size
            yield larger[0], larger[1], larger[2]
