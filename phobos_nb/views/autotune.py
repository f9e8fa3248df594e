"""A search as a person sees it: every configuration a point, failures too; a plain model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.cuda.resources import occupancy
from phobos_nb.target import Target
from phobos_nb.tune.gemm_peers import OTHER_PRECISION
from phobos_nb.tune.outcome import FINALS, FIRST_LOOK, Failed, Measured, Outcome, label
from phobos_nb.tune.records import Record
from phobos_nb.tune.result import Tuning
from phobos_nb.tune.stages import looked, remark
from phobos_nb.tune.statistics import Estimate, estimate
from phobos_nb.tune.yardstick import Measure, first_measure, measures_of, target_of


@dataclass(frozen=True)
class Point:
    """One configuration. status: "winner", "tie", "ok", or the kind of its failure.

    ms, low, high: the median and its 95 % interval, None for a failure, or without enough samples.
    stage: what that is of, "finals" or "first look"; empty for a failure. first: the median of its first
    look, which every measured one had: only times of one stage compare. notes: what its numbers mean.
    """

    label: str
    constants: Mapping[str, int]
    status: str
    ms: float | None = None
    low: float | None = None
    high: float | None = None
    samples: int = 0
    reason: str = ""
    facts: Mapping[str, float] = field(default_factory=dict[str, float])
    notes: tuple[str, ...] = ()
    stage: str = ""
    first: float | None = None

    @property
    def failed(self) -> bool:
        """Whether it has no time."""
        return self.ms is None

    def times_of(self, winner: Point) -> float | None:
        """How many times as long as the winner it took, times of one stage compared."""
        one, other = (self.ms, winner.ms) if self.stage == winner.stage else (self.first, winner.first)
        return one / other if one and other else None


@dataclass(frozen=True)
class PeerLine:
    """Something else that does the same: its time and interval in ms.

    other_precision: it computes in another precision than the kernel, so the two are not alike.
    """

    name: str
    ms: float
    low: float | None = None
    high: float | None = None
    other_precision: bool = False


@dataclass(frozen=True)
class AutotuneView:
    """A search, finished or under way. axes: the space. points: those of the finals, then those of
    which there is only a first look, each fastest first; failures last.

    total: how many configurations the space has. recorded: card and date of replayed measurements.
    measures: what a point's height can be, the time first. remark: a sentence where first looks were
    faster than the winner in its rounds. looked: what a first look is, in words.
    """

    kernel: str
    extents: Mapping[str, int]
    device: str
    axes: Mapping[str, tuple[int, ...]]
    points: tuple[Point, ...]
    peers: tuple[PeerLine, ...] = ()
    measures: tuple[Measure, ...] = (Measure("time", "ms"),)
    total: int = 0
    stopped: str = ""
    checked: str = ""
    cache: str = "warm"
    recorded: str = ""
    date: str = ""
    remark: str = ""
    looked: str = ""

    @property
    def title(self) -> str:
        """Kernel, extents, device."""
        sizes = ", ".join(f"{n}={v}" for n, v in self.extents.items())
        return f"{self.kernel} {sizes} on {self.device}"

    @property
    def winner(self) -> Point | None:
        """The fastest right one."""
        return next((p for p in self.points if p.status == "winner"), None)

    @cached_property
    def two_stages(self) -> bool:
        """Whether some times are of the finals and others of a first look only."""
        return {FINALS, FIRST_LOOK} <= {p.stage for p in self.points}

    @property
    def facts(self) -> tuple[str, ...]:
        """Names of the resources that points have."""
        return tuple(dict.fromkeys(n for p in self.points for n in p.facts))

    @property
    def failures(self) -> dict[str, int]:
        """How many failed, by kind."""
        found: dict[str, int] = {}
        for point in self.points:
            if point.failed:
                found[point.status] = found.get(point.status, 0) + 1
        return found

    @property
    def measure(self) -> Measure:
        """What to look at first: throughput, else bandwidth, else the time."""
        return first_measure(self.measures)

    def to_plain(self) -> dict[str, Any]:
        """As JSON's types, for the widget."""
        return {**asdict(self), "title": self.title, "first_measure": self.measure.name}


def view_of(tuning: Tuning, kernel: Kernel | None = None) -> AutotuneView:
    """The view of a result. kernel: where the result itself has none, counted for rates."""
    return view_of_record(tuning.record, tuning.recorded, kernel or tuning.kernel)


def view_of_record(record: Record, recorded: str = "", kernel: Kernel | None = None) -> AutotuneView:
    """The view of what a record holds so far."""
    identity, target = record.identity, target_of(record)
    points = [_point(o, record, target) for o in record.outcomes.values()]
    return AutotuneView(
        identity.kernel,
        dict(identity.extents),
        identity.device,
        {n: tuple(v) for n, v in record.space.items()},
        tuple(sorted(points, key=_rank)),
        tuple(_peer(n, t) for n, t in record.peers.items() if t),
        measures_of(record, kernel),
        math.prod(len(values) for values in record.space.values()),
        record.stopped,
        record.checked,
        str(record.settings.get("cache", "warm")),
        recorded,
        record.date,
        remark(record.outcomes, record.best),
        looked(record.outcomes.values()),
    )


def _rank(point: Point) -> tuple[bool, bool, float]:
    """Finalists first: their times are of the interleaved rounds, and so comparable."""
    return point.failed, point.stage != FINALS, point.ms or 0.0


def _point(outcome: Outcome, record: Record, target: Target | None) -> Point:
    if isinstance(outcome, Failed):
        reason = outcome.reason
        return Point(outcome.label, dict(outcome.constants), outcome.kind.value, reason=reason)
    found = estimate(outcome.samples)
    status = "ok"
    if record.best is not None and outcome.label == label(record.best):
        status = "winner"
    elif outcome.label in record.ties:
        status = "tie"
    low, high = bounds(found)
    return Point(
        outcome.label,
        dict(outcome.constants),
        status,
        found.median,
        low,
        high,
        found.count,
        facts=dict(outcome.facts),
        notes=tuple(_notes(outcome, status, target)),
        stage=outcome.stage,
        first=outcome.first,
    )


def _notes(outcome: Measured, status: str, target: Target | None) -> list[str]:
    """What a person should know of the numbers: how they were measured, and what limits the CTAs."""
    notes: list[str] = []
    if status == "tie":
        notes.append("cannot be told from the winner")
    if outcome.rounds:
        notes.append(f"timed in {len(outcome.rounds)} interleaved rounds with the other finalists")
    else:
        notes.append(f"first look only ({len(outcome.times)} samples)")
    facts = outcome.facts
    if facts.get("spills"):
        notes.append(f"{facts['spills']:,.0f} bytes spilled to local memory")
    if target is not None and {"registers", "shared_bytes", "threads"} <= set(facts):
        fit = occupancy(
            target,
            registers=int(facts["registers"]),
            shared_bytes=int(facts["shared_bytes"]),
            threads=int(facts["threads"]),
        )
        notes.append(f"CTAs per SM limited by {' and '.join(fit.limits)}")
    notes.append(f"relative error of its answer {outcome.error:.1e}")
    return notes


def bounds(found: Estimate) -> tuple[float | None, float | None]:
    """The interval, None where there is none."""
    return (None, None) if found.low != found.low else (found.low, found.high)


def _peer(name: str, times: Sequence[float]) -> PeerLine:
    found = estimate(times)
    return PeerLine(name, found.median, *bounds(found), name.endswith(OTHER_PRECISION))
