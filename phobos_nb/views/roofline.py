"""A kernel under the roofs of a card: work, bytes, and what binds it, as a plain model and as text.

Each resource needs at least so long for what was counted; the one that needs longest binds, and its time
beside the measured one says how much there is to gain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from phobos_nb.counts import counted
from phobos_nb.views.roofline_count import Counted
from phobos_nb.views.roofline_roofs import (
    DOUBLE,
    DRAM,
    FMA,
    L2,
    SHARED,
    TENSOR,
    Roof,
    Roofs,
    amount,
    roofs_from_plain,
    three,
)

CLOSE = 0.6
"""Of the binding resource's rate: below, something else holds the kernel back."""

MORE = 1.25
"""Requested bytes over the least ones from which on the words name them."""

WAVEFRONT_BYTES = 128
"""What shared memory serves in one wavefront at most: each of 32 banks 4 bytes."""


@dataclass(frozen=True)
class Need:
    """What one resource is asked for, in words, and the seconds that it needs for it at least."""

    resource: str
    what: str
    seconds: float


@dataclass(frozen=True)
class Point:
    """One kernel or configuration. microseconds: of a call, None where it was not measured.

    intensity: flop per byte that DRAM must move; requested_intensity: per byte that warps ask for.
    rate: measured flop/s, else the rate that what binds it allows. seconds: the least possible.
    """

    label: str
    flops: Mapping[str, float]
    total_flops: float
    least_bytes: int
    requested_bytes: float
    intensity: float
    requested_intensity: float
    needs: tuple[Need, ...]
    microseconds: float | None
    rate: float
    words: tuple[str, ...]
    method: str
    problems: tuple[str, ...] = ()

    @property
    def bound(self) -> Need | None:
        """The resource that needs longest."""
        return max(self.needs, key=lambda n: n.seconds, default=None)

    @property
    def fraction(self) -> float | None:
        """The binding resource's time out of the measured one; None without a time."""
        if self.microseconds is None or self.bound is None:
            return None
        return self.bound.seconds / (self.microseconds * 1e-6)


@dataclass(frozen=True)
class RooflineView:
    """Points under roofs."""

    title: str
    roofs: Roofs
    points: tuple[Point, ...]

    def to_plain(self) -> dict[str, Any]:
        """The model as JSON's types."""
        points = [{**asdict(p), "bound": p.bound and p.bound.resource} for p in self.points]
        return {"title": self.title, "roofs": self.roofs.to_plain(), "points": points}


def view_from_plain(data: Mapping[str, Any]) -> RooflineView:
    """What `RooflineView.to_plain` wrote; `KeyError` or `TypeError` where it did not."""
    return RooflineView(
        str(data["title"]),
        roofs_from_plain(data["roofs"]),
        tuple(_point_from_plain(p) for p in data["points"]),
    )


def _point_from_plain(data: Mapping[str, Any]) -> Point:
    known = {n: v for n, v in data.items() if n != "bound"}
    known |= {n: tuple(known[n]) for n in ("words", "problems")}
    known["needs"] = tuple(Need(**n) for n in known["needs"])
    return Point(**known)


def point(label: str, work: Counted, roofs: Roofs, microseconds: float | None = None) -> Point:
    """Place what was counted under the roofs."""
    needs = tuple(_needs(work, roofs))
    bound = max((n.seconds for n in needs), default=0.0)
    seconds = microseconds * 1e-6 if microseconds else bound
    flops = work.total_flops
    return Point(
        label=label,
        flops=dict(work.flops),
        total_flops=flops,
        least_bytes=work.least,
        requested_bytes=work.requested,
        intensity=flops / work.least if work.least else 0.0,
        requested_intensity=flops / work.requested if work.requested else 0.0,
        needs=needs,
        microseconds=microseconds,
        rate=flops / seconds if seconds else 0.0,
        words=tuple(_words(needs, work, roofs, microseconds)),
        method=work.method,
        problems=work.problems,
    )


def compute_roof(kind: str) -> str:
    """The name of the roof over operations of a kind; f16 and bf16 arithmetic counts as f32's."""
    dtype, operation = kind.split(" ", 1)
    if operation == "tensor":
        return TENSOR
    return DOUBLE if dtype == "f64" else FMA


def slots(flops: Mapping[str, float]) -> dict[str, float]:
    """Flop slots by roof: an operation that is no multiply-add takes the place of one, which is two."""
    found: dict[str, float] = {}
    for kind, count in flops.items():
        weight = 1.0 if kind.endswith((" fma", " tensor")) else 2.0
        weight *= 2.0 if kind == "tf32 tensor" else 1.0  # half the rate of f16 (white papers)
        roof = compute_roof(kind)
        found[roof] = found.get(roof, 0.0) + weight * count
    return found


def _needs(work: Counted, roofs: Roofs) -> Iterator[Need]:
    for name, taken in slots(work.flops).items():
        if rate := roofs.rate(name):
            done = sum(c for k, c in work.flops.items() if compute_roof(k) == name)
            yield Need(name, f"{amount(done, 'flop')}{_wasted(done, taken)}", taken / rate)
    if rate := roofs.rate(DRAM):
        yield Need(DRAM, f"{amount(work.least, 'B')}, the least possible", work.least / rate)
    if rate := roofs.rate(L2):
        yield Need(L2, f"{amount(work.requested, 'B')} requested", work.requested / rate)
    if (rate := roofs.rate(SHARED)) and work.wavefronts:
        what = f"{counted(round(work.wavefronts), 'wavefront')}"
        yield Need(SHARED, what, work.wavefronts * WAVEFRONT_BYTES / rate)


def by_size(flops: Mapping[str, float]) -> list[tuple[str, float]]:
    """Kinds of operations with their counts, the most first."""
    return sorted(flops.items(), key=lambda item: (-item[1], item[0]))


def _wasted(done: float, taken: float) -> str:
    """How far the operations are from multiply-adds alone, where that matters."""
    share = done / taken if taken else 1.0
    return "" if share > 0.98 else f" in the time of {amount(taken, 'flop')} of multiply-adds"


def _words(needs: Sequence[Need], work: Counted, roofs: Roofs, us: float | None) -> Iterator[str]:
    if not needs:
        yield "Nothing binds it: no work and no bytes were counted."
        return
    bound = max(needs, key=lambda n: n.seconds)
    yield f"Bound by {bound.resource}: {bound.what}, at least {duration(bound.seconds)}."
    if us is not None:
        yield from _measured_words(bound, work, us)
    if work.least and work.requested > MORE * work.least:
        yield _asked_words(work, roofs)
    yield from _balance_words(work.ctas, roofs.sms)


def _measured_words(bound: Need, work: Counted, us: float) -> Iterator[str]:
    share = bound.seconds / (us * 1e-6)
    rates = [amount(work.total_flops / (us * 1e-6), "flop/s")] if work.total_flops else []
    rates.append(f"{amount(work.least / (us * 1e-6), 'B/s')} of least bytes")
    yield f"Measured {duration(us * 1e-6)}: {', '.join(rates)}, {share:.0%} of what binds it."
    if share < CLOSE:
        yield "That is far below: latency, too few CTAs or warps, or work that is not counted here."
    elif share > 1.05:
        yield "More than that roof allows: what it reads lay in the L2 cache, or the clock is higher."


def _asked_words(work: Counted, roofs: Roofs) -> str:
    """What caches have to answer."""
    asked = f"Warps ask for {three(work.requested / work.least)} times the least bytes"
    rate = roofs.rate(DRAM)
    if rate is None:
        return f"{asked}; the caches have to answer the rest."
    return f"{asked}; if caches answered nothing, DRAM would need {duration(work.requested / rate)}."


def _balance_words(ctas: int, sms: int) -> Iterator[str]:
    """How unevenly CTAs fall on SMs, where that costs more than a tenth."""
    if ctas < sms:
        yield f"{counted(ctas, 'CTA')} on {sms} SMs: {counted(sms - ctas, 'SM')} without work."
    elif (most := -(-ctas // sms)) > 1.1 * ctas / sms:
        mean = three(ctas / sms)
        yield f"{counted(ctas, 'CTA')} on {sms} SMs: the busiest has {most}, the mean is {mean}."


def duration(seconds: float) -> str:
    """Seconds as text with a fitting unit."""
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{three(seconds / scale)} {unit}"
    return f"{three(seconds / 1e-9)} ns"


def text(view: RooflineView) -> str:
    """The roofline as text: the roofs with their sources, then each point with its needs and words."""
    kind = "measured" if view.roofs.measured else "nominal"
    lines = [view.title, f"Roofs of {view.roofs.device}, {kind}:"]
    lines += [f"  {roof.name}: {_rate(roof)} ({roof.source})" for roof in view.roofs.roofs]
    for shown in view.points:
        lines += ["", *_point_text(shown)]
    return "\n".join(lines)


def _rate(roof: Roof) -> str:
    return amount(roof.rate, "flop/s" if roof.kind == "compute" else "B/s")


def _point_text(shown: Point) -> Iterator[str]:
    yield shown.label
    flops = ", ".join(f"{amount(n, 'flop')} {kind}" for kind, n in by_size(shown.flops))
    yield f"  work: {flops or 'no floating-point operations'} ({shown.method})"
    least, requested = amount(shown.least_bytes, "B"), amount(shown.requested_bytes, "B")
    yield f"  bytes: {least} at least, {requested} requested"
    if shown.total_flops:
        low, high = three(shown.requested_intensity), three(shown.intensity)
        yield f"  intensity: {high} flop/B of the least bytes, {low} of the requested"
    for need in shown.needs:
        mark = "*" if need is shown.bound else " "
        yield f" {mark} {need.resource:<18} {duration(need.seconds):>9}  {need.what}"
    yield from (f"  {sentence}" for sentence in shown.words)
    yield from (f"  the simulation found: {problem}" for problem in shown.problems)
