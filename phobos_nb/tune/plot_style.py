"""What the figures of a search share: looks of points, values, the title."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from phobos_nb.tune.gemm_peers import OTHER_PRECISION
from phobos_nb.tune.outcome import FIRST_LOOK, Failed, Measured, Outcome, label
from phobos_nb.tune.stages import looked
from phobos_nb.tune.statistics import estimate
from phobos_nb.tune.yardstick import Measure

if TYPE_CHECKING:
    from phobos_nb.tune.result import Tuning

GREEN, BLUE, RED, GRAY = "tab:green", "tab:blue", "tab:red", "tab:gray"


@dataclass(frozen=True)
class Look:
    """Shape, area in square points and colour: colour is never the only difference."""

    marker: str
    size: float
    colour: str
    filled: bool = True


LOOKS = {
    "winner": Look("*", 160, GREEN),
    "tie": Look("D", 45, GREEN),
    "ok": Look("o", 30, BLUE),
    "look": Look("o", 26, BLUE, filled=False),
    "failed": Look("x", 30, RED),
}


@dataclass(frozen=True)
class Shown:
    """A result and the measure it is shown in."""

    tuning: Tuning
    measure: Measure

    @cached_property
    def measured(self) -> tuple[Measured, ...]:
        """Fastest first."""
        return self.tuning.measured

    @property
    def names(self) -> list[str]:
        """The parameters, then the facts."""
        facts = dict.fromkeys(name for outcome in self.measured for name in outcome.facts)
        return [*self.tuning.record.space, *(n for n in facts if n not in self.tuning.record.space)]

    def value(self, outcome: Outcome, name: str) -> float:
        """A parameter or fact; nan where it is not known."""
        if name in outcome.constants:
            return float(outcome.constants[name])
        return outcome.facts.get(name, math.nan) if isinstance(outcome, Measured) else math.nan

    def status(self, outcome: Outcome) -> str:
        """A key of `LOOKS`."""
        best = self.tuning.record.best
        if isinstance(outcome, Failed):
            return "failed"
        if best is not None and outcome.label == label(best):
            return "winner"
        if outcome.label in self.tuning.record.ties:
            return "tie"
        return "look" if self.two_stages and outcome.stage == FIRST_LOOK else "ok"

    @cached_property
    def two_stages(self) -> bool:
        """Whether some times are of the finals and others of a first look: the two do not compare."""
        return len({o.stage for o in self.measured}) > 1

    @property
    def looked(self) -> str:
        """What first looks are, in words; empty where all times are of one stage."""
        return looked(self.tuning.record.outcomes.values()) if self.two_stages else ""

    @property
    def alike(self) -> dict[str, float]:
        """The peers of the kernel's precision, by name."""
        return {n: v for n, v in self._peers.items() if not n.endswith(OTHER_PRECISION)}

    @property
    def unlike(self) -> dict[str, float]:
        """The peers of another precision, by name."""
        return {n: v for n, v in self._peers.items() if n.endswith(OTHER_PRECISION)}

    @property
    def _peers(self) -> dict[str, float]:
        peers = self.tuning.record.peers
        return {n: self.measure.of(estimate(times).median) for n, times in peers.items() if times}

    @property
    def title(self) -> str:
        """Kernel, extents, device, and where the numbers were recorded."""
        identity = self.tuning.record.identity
        extents = ", ".join(f"{n}={v}" for n, v in identity.extents.items())
        recorded = f"\nrecorded on {self.tuning.recorded}" if self.tuning.recorded else ""
        return f"{identity.kernel} {extents} on {identity.device}{recorded}"


def number(value: float) -> str:
    """Four digits."""
    return f"{value:.4g}"
