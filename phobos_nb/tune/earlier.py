"""What of an earlier record still holds for a search under the settings of now.

A time is of the call, and so is what the compiler refuses. That an answer was wrong is of what it was
compared with, and that none came of the seconds it had: another reference, tolerance or timeout makes
those worth another try.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from phobos_nb.tune.outcome import Constants, Failed, Kind, Outcome
from phobos_nb.tune.records import Record
from phobos_nb.tune.reference import GIVEN
from phobos_nb.tune.settings import Settings


def circumstances(settings: Settings) -> dict[str, Any]:
    """What the outcomes of a search depend on beside its identity, for its record."""
    return {
        "cache": settings.cache,
        "strategy": settings.strategy,
        "rounds": settings.rounds,
        "samples": settings.samples,
        "seed": settings.seed,
        "tolerance": settings.tolerance,
        "timeouts": [settings.timeout, settings.compile_timeout],
    }


def still_valid(record: Record, settings: Settings, grid_of: Callable[[Constants], str]) -> Record:
    """The record without what has to be tried again; no whole search any more where something has.

    grid_of: a configuration's grid as text, empty where it is inferred.
    """
    grids = record.settings.get("grids", {})
    kept = {
        name: outcome
        for name, outcome in record.outcomes.items()
        if grids.get(name, "") == grid_of(outcome.constants) and _holds(outcome, record, settings)
    }
    if len(kept) == len(record.outcomes):
        return record
    best = record.best if any(o.constants == record.best for o in kept.values()) else None
    ties = tuple(name for name in record.ties if name in kept)
    return replace(
        record, outcomes=kept, best=best, ties=ties, settings={**record.settings, "strategy": ""}
    )


def _holds(outcome: Outcome, record: Record, settings: Settings) -> bool:
    tolerance = settings.tolerance
    if not isinstance(outcome, Failed):
        return tolerance is None or outcome.error <= tolerance
    if outcome.kind is Kind.WRONG:
        same = record.settings.get("tolerance") == tolerance
        return same and settings.reference is None and record.checked != GIVEN
    if outcome.kind is Kind.TIMEOUT:
        usual = Settings()
        then = record.settings.get("timeouts", [usual.timeout, usual.compile_timeout])
        return settings.timeout <= then[0] and settings.compile_timeout <= then[1]
    return True


def grids_of(outcomes: Mapping[str, Outcome], grid_of: Callable[[Constants], str]) -> dict[str, str]:
    """The grids that the caller gave, by configuration, for the record."""
    found = {name: grid_of(outcome.constants) for name, outcome in outcomes.items()}
    return {name: grid for name, grid in found.items() if grid}
