"""Races of one pair of source lines on one buffer, as one finding: an unrolled loop makes many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from phobos_nb.simulate.records import Race


def grouped(races: Sequence[Race]) -> list[Race]:
    """One race per pair of lines, buffer and kind, in the order first seen; the others in its `also`.

    Races between CTAs and within one stay apart, and so do those of an operation with itself. A race
    whose lines are not known stands for itself.
    """
    groups: dict[object, list[Race]] = {}
    for number, race in enumerate(races):
        groups.setdefault(_key(race) or number, []).append(race)
    return [_one(group) for group in groups.values()]


def _key(race: Race) -> tuple[object, ...] | None:
    if not (race.first.line and race.second.line):
        return None
    return (
        race.kind,
        race.first.line,
        race.second.line,
        race.tensor,
        race.buffer,
        race.first_cta == race.second_cta,
        race.first == race.second,
    )


def _one(group: Sequence[Race]) -> Race:
    first, *others = group
    return replace(first, count=sum(r.count for r in group), also=tuple(others)) if others else first
