"""How far a search is, and about how long it will still take."""

from __future__ import annotations

from dataclasses import dataclass, replace

from phobos_nb.tune.search import Event

RECENT = 16
"""Events whose pace is taken for the pace of those to come."""


@dataclass(frozen=True)
class Pace:
    """`done` of at most `total` outcomes ("first") or rounds ("finals"); stage "" before any.

    moments: when the latest events of this stage came, in seconds of one clock.
    """

    stage: str = ""
    done: int = 0
    total: int = 0
    moments: tuple[float, ...] = ()

    def after(self, event: Event, now: float) -> Pace:
        """How it is once an event has come."""
        before = self if event.stage == self.stage else Pace()
        moments = (*before.moments, now)[-RECENT:]
        return replace(self, stage=event.stage, done=event.done, total=event.total, moments=moments)

    @property
    def seconds_left(self) -> float | None:
        """Until this stage ends, at the recent pace; None before two events came."""
        if len(self.moments) < 2:
            return None
        each = (self.moments[-1] - self.moments[0]) / (len(self.moments) - 1)
        return max(0, self.total - self.done) * each
