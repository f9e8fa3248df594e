"""What a launch's simulation says, in the words of the text it was compiled from."""

from __future__ import annotations

from collections.abc import Sequence

from phobos_nb.compilation.dropped import with_dropped
from phobos_nb.compilation.shared_names import with_shared_names
from phobos_nb.lower.insert_barriers import Barrier
from phobos_nb.lower.plan_shared_memory import SharedPlan
from phobos_nb.simulate.records import SimulationResult


def told(
    plan: SharedPlan, barriers: Sequence[Barrier], dropped: int | None, result: SimulationResult
) -> SimulationResult:
    """The result with names of buffers, and with what a barrier that was left out is for."""
    return with_dropped(with_shared_names(result, plan), barriers, dropped)
