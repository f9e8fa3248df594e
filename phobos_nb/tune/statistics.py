"""How far apart two times are, and how sure that is.

Times of GPU work are skewed and heavy-tailed, so everything here is by ranks: medians, and intervals
whose ends are samples, exact for any distribution (binomial: how many samples lie below the median).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
"""Of the intervals that are shown."""

CONFIDENCE_OF_VERDICTS = 0.99
"""Of the intervals that separate two configurations: a search compares its winner with several."""

RESOLUTION = 0.005
"""A median ratio closer to 1 than this is a tie however sure it is: where a kernel's arrays and code lie
in memory changes its time that much from one process to the next."""


@dataclass(frozen=True)
class Estimate:
    """A median with the interval that holds the true one; `nan` bounds where samples are too few."""

    median: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Comparison:
    """The ratio of one's times to the other's, round by round: above 1, the other is faster."""

    ratio: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """The words "faster", "slower" or "tie"; a tie also where too few rounds were run to tell."""
        if self.high < 1 and self.ratio < 1 - RESOLUTION:
            return "faster"
        if self.low > 1 and self.ratio > 1 + RESOLUTION:
            return "slower"
        return "tie"


def is_open(comparison: Comparison) -> bool:
    """Whether more rounds could change the verdict: a tie that is not known to be a close one."""
    close = 2 * RESOLUTION
    known = 1 - close <= comparison.low and comparison.high <= 1 + close
    return comparison.verdict == "tie" and not known


def estimate(samples: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """The median of samples with its interval; `ValueError` without samples."""
    if not samples:
        raise ValueError("a median of nothing")
    ordered = sorted(samples)
    skip = _outside(len(ordered), confidence)
    if skip < 0:
        return Estimate(statistics.median(ordered), math.nan, math.nan, len(ordered))
    return Estimate(statistics.median(ordered), ordered[skip], ordered[-1 - skip], len(ordered))


def _outside(count: int, confidence: float) -> int:
    """How many samples may be left out at each end; -1 where even all of them do not suffice.

    The interval between the (k+1)-th smallest and largest of n samples misses the median with
    probability 2 * P(Binomial(n, 1/2) <= k).
    """
    below, k = 0.0, -1
    while True:
        below += math.comb(count, k + 1) / 2**count
        if 2 * below > 1 - confidence or k + 1 >= count / 2:
            return k
        k += 1


def compare(
    one: Sequence[float], other: Sequence[float], confidence: float = CONFIDENCE_OF_VERDICTS
) -> Comparison:
    """Two contenders of the same interleaved rounds, compared round by round.

    What both share in a round, such as the clock, cancels. `ValueError` where the numbers of rounds
    differ, or there are none.
    """
    ratios = [a / b for a, b in zip(one, other, strict=True)]
    found = estimate(ratios, confidence)
    low = -math.inf if math.isnan(found.low) else found.low
    high = math.inf if math.isnan(found.high) else found.high
    return Comparison(found.median, low, high)


def compare_apart(
    one: Sequence[float], other: Sequence[float], confidence: float = CONFIDENCE_OF_VERDICTS
) -> Comparison:
    """Two samples that share no rounds, such as those of two runs: the ratio of their medians.

    Each median gets an interval that misses it half as often as the ratio's may (Bonferroni), so the
    ends of the ratio's interval are sure at least as stated. `ValueError` without samples.
    """
    half = 1 - (1 - confidence) / 2
    a, b = estimate(one, half), estimate(other, half)
    low = -math.inf if math.isnan(a.low + b.high) else a.low / b.high
    high = math.inf if math.isnan(a.high + b.low) else a.high / b.low
    return Comparison(a.median / b.median, low, high)


def ties_of(winner: str, rounds: Mapping[str, Sequence[float]]) -> tuple[str, ...]:
    """Names whose rounds do not separate them from the winner's, the winner left out."""
    return tuple(
        name
        for name, times in rounds.items()
        if name != winner and compare(times, rounds[winner]).verdict == "tie"
    )


def winner_of(rounds: Mapping[str, Sequence[float]]) -> str:
    """The name with the smallest median; the first of equals. `ValueError` where there is none."""
    return min(rounds, key=lambda name: statistics.median(rounds[name]))
