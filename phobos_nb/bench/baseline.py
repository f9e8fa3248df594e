"""A run against an earlier one: which kernels have become slower, and how sure that is.

The two runs share no rounds, so a ratio of medians carries the noise of both, and what differs from one
process to the next: where arrays and code lie, the clock, the temperature. Runs therefore lay their
arrays out several times, and a difference must hold between any two of these sittings (four above four
others by chance: once in 70). `MARGIN` stands for what is left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from phobos_nb.bench.report import Report
from phobos_nb.bench.row import Row
from phobos_nb.tune.statistics import compare_apart

MARGIN = 0.02
"""Two times of one kernel this close count as the same however narrow their intervals are."""


@dataclass(frozen=True)
class Change:
    """One row of both runs. ratio: the time now over the time then, with its 99 % interval.

    verdict: "slower", "faster", "same" or "wrong" (no longer a right answer, so not timed).
    """

    row: Row
    ratio: float
    low: float
    high: float
    verdict: str
    note: str = ""

    @property
    def fails(self) -> bool:
        """Whether the run is to be called a failure for it: peers never are."""
        return self.row.ours and self.verdict in ("slower", "wrong")


def changes(now: Sequence[Row], then: Sequence[Row], margin: float = MARGIN) -> Iterator[Change]:
    """The rows that both runs have, compared."""
    old = {row.key: row for row in then}
    for row in now:
        before = old.get(row.key)
        if before is not None and before.times:
            yield change(row, before, margin)


def change(now: Row, then: Row, margin: float = MARGIN) -> Change:
    """One row now and then: slower or faster only where the interval lies beyond the margin, and each
    sitting now to the same side of all sittings then.
    """
    note = "" if now.constants == then.constants else f"{then.constants or 'no constants'} then"
    if not now.times:
        return Change(now, math.nan, math.nan, math.nan, "wrong", note)
    found = compare_apart(now.times, then.times)
    verdict = "same"
    if found.low > 1 + margin and min(now.levels) > max(then.levels):
        verdict = "slower"
    elif found.high < 1 / (1 + margin) and max(now.levels) < min(then.levels):
        verdict = "faster"
    return Change(now, found.ratio, found.low, found.high, verdict, note)


def differences(now: Report, then: Report) -> list[str]:
    """Conditions that differ, in words: times under them are not comparable as they stand."""
    names = dict.fromkeys([*then.conditions, *now.conditions])
    return [
        f"{name}: {then.conditions.get(name, 'unknown')} then, {now.conditions.get(name, 'unknown')} now"
        for name in names
        if then.conditions.get(name) != now.conditions.get(name)
    ]


def format_change(change: Change) -> str:
    """One line: who, the verdict, the ratio with its interval."""
    row = change.row
    who = f"{row.workload:20} {row.size:18} {row.contender:18}"
    if change.verdict == "wrong":
        return f"{who} WRONG   no right answer to time"
    note = f"  ({change.note})" if change.note else ""
    ratio = f"{change.ratio:.4f}x the time [{change.low:.4f}, {change.high:.4f}]"
    return f"{who} {change.verdict:7} {ratio}{note}"
