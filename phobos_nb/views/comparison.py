"""A comparison as plain data for the notebook: every difference, and the source lines to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phobos_nb.simulate.difference import Change, Difference, Differences

AROUND = 2
"""Lines of the source shown on both sides of one to look at."""


@dataclass(frozen=True)
class SourceLine:
    """A line with its number, 0 where lines are left out; `mark`: "change", "look" or nothing."""

    number: int
    text: str
    mark: str = ""


@dataclass(frozen=True)
class DifferenceView:
    """One difference. source: its lines and those around; change: what makes the values right."""

    difference: Difference
    source: tuple[SourceLine, ...]
    change: Change | None


@dataclass(frozen=True)
class ComparisonView:
    """All of a comparison."""

    summary: str
    differences: tuple[DifferenceView, ...]
    remarks: tuple[str, ...]
    agrees: bool


def view_of(found: Differences) -> ComparisonView:
    """The plain model of a comparison."""
    text, first = found.source
    lines = text.splitlines()
    views = tuple(DifferenceView(d, _excerpt(d, lines, first), d.change) for d in found)
    return ComparisonView(found.summary, views, found.remarks, not found)


def _excerpt(difference: Difference, lines: Sequence[str], first: int) -> tuple[SourceLine, ...]:
    wanted = [n for n in difference.lines if first <= n < first + len(lines)]
    shown = {m for n in wanted for m in range(n - AROUND, n + AROUND + 1)}
    change = difference.change.line if difference.change else 0
    found: list[SourceLine] = []
    for number in sorted(n for n in shown if first <= n < first + len(lines)):
        if found and number > found[-1].number + 1:
            found.append(SourceLine(0, ""))
        mark = "change" if number == change else "look" if number in wanted else ""
        found.append(SourceLine(number, lines[number - first], mark))
    return tuple(found)
