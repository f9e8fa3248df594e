"""A search beside an earlier one of the same call: nothing that was measured is lost.

A search of part of a space (`choices={"TILE_K": 8}`) shares its record with the search of the whole. Its
finals also time the earlier winner, so that one set of interleaved rounds decides between the two; the
rounds of earlier finals cannot be paired with them and become plain times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from phobos_nb.tune.outcome import Measured, Outcome, label
from phobos_nb.tune.records import Record, conclude
from phobos_nb.tune.space import Space


def merged(new: Record, old: Record | None) -> Record:
    """The new record with what only the old one has."""
    if old is None:
        return new
    fresh = any(isinstance(o, Measured) and o.rounds for o in new.outcomes.values())
    kept = {n: _unpaired(o) if fresh else o for n, o in old.outcomes.items()}
    both = replace(
        new,
        space=union(old.space, new.space),
        peers=new.peers if fresh else {**old.peers, **new.peers},
        settings=_settings(new, old),
    )
    return conclude(both, {**kept, **new.outcomes}, new.stopped)


def _settings(new: Record, old: Record) -> dict[str, Any]:
    """The new search's, with the given grids of both."""
    grids = {**old.settings.get("grids", {}), **new.settings.get("grids", {})}
    return {**new.settings, **({"grids": grids} if grids else {})}


def union(
    one: Mapping[str, tuple[int, ...]], other: Mapping[str, tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    """Every name with the values of both."""
    names = dict.fromkeys((*one, *other))
    return {n: tuple(dict.fromkeys((*one.get(n, ()), *other.get(n, ())))) for n in names}


def restricted(record: Record, space: Space) -> Record:
    """The record as a search of that space would have written it."""
    inside = {n: o for n, o in record.outcomes.items() if o.constants in space}
    return conclude(replace(record, space=space.values), inside, record.stopped)


def champions(old: Record | None, space: Space) -> dict[str, Outcome]:
    """The earlier winner, where a search of that space would not meet it."""
    if old is None or old.best is None or old.best in space:
        return {}
    name = label(old.best)
    return {name: old.outcomes[name]} if name in old.outcomes else {}


def _unpaired(outcome: Outcome) -> Outcome:
    if not isinstance(outcome, Measured):
        return outcome
    return replace(outcome, times=(*outcome.times, *outcome.rounds), rounds=())
