"""What became of each configuration: measured, or failed with a kind and a reason."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

Constants = Mapping[str, int]
"""One configuration: a value for every name of the space."""


def label(constants: Constants) -> str:
    """A configuration as text, such as "TILE_M=128 TILE_N=128"; equal ones give equal labels."""
    return " ".join(f"{name}={value}" for name, value in sorted(constants.items()))


FINALS, FIRST_LOOK = "finals", "first look"
"""The two stages of a search, as shown."""


class Kind(StrEnum):
    """Why a configuration cannot win."""

    CONSTRAINT = "constraint"
    COMPILE = "compile"
    LAUNCH = "launch"
    WRONG = "wrong answer"
    TIMEOUT = "timeout"
    CRASH = "crash"


@dataclass(frozen=True)
class Failed:
    """A configuration that gave no time. seconds: spent on it until it failed."""

    constants: Constants
    kind: Kind
    reason: str
    seconds: float = 0.0

    @property
    def label(self) -> str:
        """The configuration as text."""
        return label(self.constants)


@dataclass(frozen=True)
class Measured:
    """A configuration with the right answer. All times are milliseconds per call.

    times: of the first stage. rounds: of the interleaved rounds, empty for those that were no
    finalists; the same position in two finalists is the same round. error: see `check.Errors.worst`.
    facts: of the compilation, such as "registers", "shared_bytes", "occupancy".
    """

    constants: Constants
    times: tuple[float, ...]
    rounds: tuple[float, ...] = ()
    error: float = 0.0
    facts: Mapping[str, float] = field(default_factory=dict[str, float])
    compile_seconds: float = 0.0

    @property
    def label(self) -> str:
        """The configuration as text."""
        return label(self.constants)

    @property
    def samples(self) -> tuple[float, ...]:
        """The times that count: the rounds' where there are any."""
        return self.rounds or self.times

    @property
    def stage(self) -> str:
        """What `samples` are of: `FINALS` or `FIRST_LOOK`; times of the two do not compare."""
        return FINALS if self.rounds else FIRST_LOOK

    @property
    def first(self) -> float:
        """The middle of the first times, in milliseconds."""
        return statistics.median(self.times)

    @property
    def median(self) -> float:
        """The middle of the samples, in milliseconds."""
        return statistics.median(self.samples)


Outcome = Measured | Failed


def to_plain(outcome: Outcome) -> dict[str, Any]:
    """The outcome as JSON's types."""
    if isinstance(outcome, Failed):
        return {
            "constants": dict(outcome.constants),
            "failed": outcome.kind.value,
            "reason": outcome.reason,
            "seconds": outcome.seconds,
        }
    return {
        "constants": dict(outcome.constants),
        "times": list(outcome.times),
        "rounds": list(outcome.rounds),
        "error": outcome.error,
        "facts": dict(outcome.facts),
        "compile_seconds": outcome.compile_seconds,
    }


def from_plain(data: Mapping[str, Any]) -> Outcome:
    """What `to_plain` wrote; `KeyError`, `TypeError` or `ValueError` where it did not."""
    constants = {str(n): int(v) for n, v in cast("dict[str, int]", data["constants"]).items()}
    if "failed" in data:
        return Failed(constants, Kind(data["failed"]), str(data["reason"]), float(data["seconds"]))
    times = tuple(float(t) for t in data["times"])
    if not times:
        raise ValueError("a measurement without times")
    return Measured(
        constants,
        times,
        tuple(float(t) for t in data["rounds"]),
        float(data["error"]),
        {str(n): float(v) for n, v in data["facts"].items()},
        float(data["compile_seconds"]),
    )
