"""Which stage of a search a time is of, and what of two stages must not be compared.

A first look is a few launches while compilers keep the machine busy, or after they have ended; the
finals are rounds in which all contenders take turns. A first look may therefore be faster than the
winner is in its rounds without being a faster configuration.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping

from phobos_nb.counts import counted
from phobos_nb.tune.outcome import Constants, Measured, Outcome, label
from phobos_nb.tune.statistics import RESOLUTION


def overtakers(outcomes: Mapping[str, Outcome], winner: Measured) -> list[Measured]:
    """First looks, of what no round has timed, that beat the winner's rounds; fastest first."""
    limit = winner.median * (1 - RESOLUTION)
    looks = [o for o in outcomes.values() if isinstance(o, Measured) and not o.rounds]
    return sorted((o for o in looks if winner.rounds and o.median < limit), key=lambda o: o.median)


def shift_of(outcomes: Iterable[Outcome]) -> float | None:
    """How many times as long as in their first look the finalists took in the rounds, the median."""
    shifts = [
        statistics.median(o.rounds) / o.first for o in outcomes if isinstance(o, Measured) and o.rounds
    ]
    return statistics.median(shifts) if shifts else None


def looked(outcomes: Iterable[Outcome]) -> str:
    """What a first look beside times of the finals is, in words: how far the two lie apart."""
    shift = shift_of(outcomes)
    return "a first look only" + (
        "" if shift is None else f"; finals took {shift:.2f}x the finalists' first looks"
    )


def remark(outcomes: Mapping[str, Outcome], best: Constants | None) -> str:
    """A sentence where first looks were faster than the winner in its rounds; else empty."""
    winner = None if best is None else outcomes.get(label(best))
    if not isinstance(winner, Measured) or not winner.rounds:
        return ""
    found, shift = overtakers(outcomes, winner), shift_of(outcomes.values())
    if not found or shift is None:
        return ""
    return (
        f"{counted(len(found), 'first look')} took less time than the winner in its rounds, where the "
        f"finalists took {shift:.2f} times as long as in theirs: the two do not compare"
    )
