"""What a launch's simulation says, in the words of the text it was compiled from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from phobos_nb.compilation.dropped import with_dropped
from phobos_nb.compilation.shared_names import with_shared_names
from phobos_nb.lower.insert_barriers import Barrier
from phobos_nb.lower.plan_shared_memory import SharedPlan
from phobos_nb.simulate.race_help import RaceText
from phobos_nb.simulate.records import SimulationResult


def told(
    plan: SharedPlan,
    barriers: Sequence[Barrier],
    dropped: int | None,
    text: RaceText,
    result: SimulationResult,
) -> SimulationResult:
    """The result with names of buffers, what mends its races, and what a left-out barrier is for."""
    named = with_shared_names(result, plan)
    helped = replace(named, races=text.with_help(named.races))
    return with_dropped(helped, barriers, dropped)
