"""A search as a person sees it: every configuration a point, failures too; a plain model and text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from phobos_nb.tune.outcome import Failed, Outcome, label
from phobos_nb.tune.records import Record
from phobos_nb.tune.result import Tuning
from phobos_nb.tune.statistics import Estimate, estimate

MARKS = {"winner": "*", "tie": "=", "ok": " "}
"""A sign for each status beside its colour."""


@dataclass(frozen=True)
class Point:
    """One configuration. status: "winner", "tie", "ok", or the kind of its failure.

    ms, low, high: the median and its 95 % interval, None for a failure, or without enough samples.
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

    @property
    def failed(self) -> bool:
        """Whether it has no time."""
        return self.ms is None


@dataclass(frozen=True)
class PeerLine:
    """Something else that does the same: its time and interval in ms."""

    name: str
    ms: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class AutotuneView:
    """A search, finished or under way. axes: the space. points: fastest first, failures last.

    total: how many configurations the space has. recorded: card and date of replayed measurements.
    """

    kernel: str
    extents: Mapping[str, int]
    device: str
    axes: Mapping[str, tuple[int, ...]]
    points: tuple[Point, ...]
    peers: tuple[PeerLine, ...] = ()
    total: int = 0
    stopped: str = ""
    checked: str = ""
    cache: str = "warm"
    recorded: str = ""

    @property
    def title(self) -> str:
        """Kernel, extents, device."""
        sizes = ", ".join(f"{n}={v}" for n, v in self.extents.items())
        return f"{self.kernel} {sizes} on {self.device}"

    @property
    def winner(self) -> Point | None:
        """The fastest right one."""
        return next((p for p in self.points if p.status == "winner"), None)

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

    def to_plain(self) -> dict[str, Any]:
        """As JSON's types, for the widget."""
        return asdict(self)


def view_of(tuning: Tuning) -> AutotuneView:
    """The view of a result."""
    return view_of_record(tuning.record, recorded=tuning.recorded)


def view_of_record(record: Record, recorded: str = "") -> AutotuneView:
    """The view of what a record holds so far."""
    points = [_point(o, record) for o in record.outcomes.values()]
    identity = record.identity
    size = 1
    for values in record.space.values():
        size *= len(values)
    return AutotuneView(
        identity.kernel,
        dict(identity.extents),
        identity.device,
        {n: tuple(v) for n, v in record.space.items()},
        tuple(sorted(points, key=_rank)),
        tuple(_peer(n, t) for n, t in record.peers.items() if t),
        size,
        record.stopped,
        record.checked,
        str(record.settings.get("cache", "warm")),
        recorded,
    )


def _rank(point: Point) -> tuple[bool, bool, float]:
    """Finalists first: their times are of the interleaved rounds, and so comparable."""
    return point.failed, point.status == "ok", point.ms or 0.0


def _point(outcome: Outcome, record: Record) -> Point:
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
    )


def bounds(found: Estimate) -> tuple[float | None, float | None]:
    """The interval, None where there is none."""
    return (None, None) if found.low != found.low else (found.low, found.high)


def _peer(name: str, times: Sequence[float]) -> PeerLine:
    found = estimate(times)
    return PeerLine(name, found.median, *bounds(found))


# Text ----------------------------------------------------------------------------------------------


def headline(view: AutotuneView) -> str:
    """How far the search is and what failed, in one sentence."""
    good = sum(not p.failed for p in view.points)
    failures = ", ".join(f"{n} {kind}" for kind, n in view.failures.items())
    parts = [
        f"{len(view.points)} of {view.total} configurations, {good} measured ({view.cache} cache)",
        f"failed: {failures}" if failures else "none failed",
    ]
    if view.stopped:
        parts.append(f"stopped: {view.stopped}")
    return "; ".join(parts)


def text(view: AutotuneView, most: int = 12) -> str:
    """The search as text: headline, peers, the fastest `most`, every kind of failure with a reason."""
    lines = [view.title, f"  {headline(view)}"]
    if view.recorded:
        lines.append(f"  recorded: {view.recorded}")
    if view.checked:
        lines.append(f"  answers checked against {view.checked}")
    lines += [f"  {peer.name}: {time_text(peer.ms, peer.low, peer.high)}" for peer in view.peers]
    good = [p for p in view.points if not p.failed]
    lines += [
        f"  {MARKS[p.status]} {p.label}: {time_text(p.ms, p.low, p.high)}{_slower(p, good[0])}"
        for p in good[:most]
    ]
    if len(good) > most:
        lines.append(f"  ... and {len(good) - most} slower ones")
    if any(p.status == "tie" for p in view.points):
        lines.append("  = cannot be told from the winner (*)")
    seen: set[str] = set()
    for point in view.points:
        if point.failed and point.status not in seen:
            seen.add(point.status)
            lines.append(f"  x {point.label}: {point.status}: {point.reason}")
    return "\n".join(lines)


def time_text(ms: float | None, low: float | None, high: float | None) -> str:
    """A time with its interval in words."""
    if ms is None:
        return "no time"
    return f"{ms:.4g} ms" if low is None or high is None else f"{ms:.4g} ms [{low:.4g}, {high:.4g}]"


def _slower(point: Point, fastest: Point) -> str:
    if point is fastest or not point.ms or not fastest.ms:
        return ""
    return f", {point.ms / fastest.ms:.3f}x"
