"""Findings of a run whose barrier was left out on request: the help says that, not `put a barrier`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from phobos_nb.lower.insert_barriers import Barrier
from phobos_nb.simulate.records import Fault, Race, SimulationResult

UNWRITTEN = "uninitialised"


def with_dropped(
    result: SimulationResult, barriers: Sequence[Barrier], number: int | None
) -> SimulationResult:
    """The result of a launch; `barriers` are its own, of which `number` may have been left out."""
    found = [b for b in barriers if number is not None and b.number == number and not b.kept]
    if not found:
        return result
    (barrier,) = found
    return replace(
        result,
        races=[_race(race, barrier) for race in result.races],
        faults=[_fault(fault, barrier) for fault in result.faults],
    )


def _race(race: Race, barrier: Barrier) -> Race:
    """Between CTAs and with fences a barrier orders nothing: their help stays."""
    ordered = " after " in race.kind or race.kind == "copy in flight"
    if not ordered or race.first_cta != race.second_cta:
        return race
    if barrier.line == race.second.line or (race.buffer and f"{race.buffer} " in barrier.reason):
        return replace(race, remedy=f"this is what {_left_out(barrier)} is for: {barrier.reason}")
    return replace(race, remedy=_without(barrier))


def _fault(fault: Fault, barrier: Barrier) -> Fault:
    return replace(fault, remedy=_without(barrier)) if fault.kind == UNWRITTEN else fault


def _without(barrier: Barrier) -> str:
    return f"{_left_out(barrier)} may be why: see whether this stays with it"


def _left_out(barrier: Barrier) -> str:
    whole = "" if barrier.scope == "CTA" else f"{barrier.scope} "
    number = barrier.number
    return f"{whole}barrier {number} (before line {barrier.line}), left out with drop_barrier={number},"
