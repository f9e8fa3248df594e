"""Runs one workload at one size: fresh inputs, verified contenders, interleaved times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from phobos_nb.bench import arithmetic
from phobos_nb.bench.place import Place
from phobos_nb.bench.row import OURS, Row, timed
from phobos_nb.bench.workload import Extents, Work, Workload
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.contract import TensorParameter
from phobos_nb.cuda.timing import Interleaved
from phobos_nb.tune.statistics import estimate

Peer = Callable[[Mapping[str, Any]], object]
"""A caller's own contender: it takes the arguments by name and writes the outputs among them."""

NARROW = 0.005
"""Rounds are added while the 95 % interval of a median reaches further than this part to a side."""

MOST = 4
"""Rounds at most, in those asked for."""


@dataclass(frozen=True)
class Plan:
    """How a workload is measured.

    rounds: interleaved rounds at least; sittings: on how many sets of arrays, as far as memory allows;
    inner: calls per round between two clock readings. warm: seconds of calls before the first round.
    peaks: TFLOP/s by kind of arithmetic, see `workload.PEAKS`. peers: a caller's own contenders by name.
    search: look for the fastest constants first.
    """

    rounds: int = 28
    inner: int = 4
    sittings: int = 4
    seed: int = 0
    warm: float = 0.2
    peaks: Mapping[str, float] = field(default_factory=dict[str, float])
    peers: Mapping[str, Peer] = field(default_factory=dict[str, Peer])
    search: bool = False


@dataclass(frozen=True)
class Call:
    """Our kernel bound to arguments of its own. Two calls alive at once have different addresses."""

    work: Work
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Ours:
    """What there is to say of our kernel: constants, where they come from, arithmetic in words."""

    constants: Mapping[str, int]
    chosen: str
    arithmetic: str


def run_workload(
    workload: Workload,
    kernel: Kernel,
    extents: Extents,
    place: Place,
    plan: Plan,
    describe: Callable[[Call], Ours],
) -> list[Row]:
    """Verify and time our kernel and its peers; ours is not timed when its outputs are wrong."""

    def make() -> Call:
        values = place.values(workload, kernel, extents, plan.seed)
        return Call(kernel.bind(**values), values)

    first = make()
    ours = describe(first)
    contenders = contenders_of(workload, first, place, plan)
    answer, outputs = workload.answer(first.values), outputs_of(kernel)
    errors = {n: verify(work, outputs, first.values, answer) for n, work in contenders.items()}
    good = {n: w for n, w in contenders.items() if errors[n] <= workload.tolerance or n != OURS}

    def again() -> dict[str, Work]:
        found = contenders_of(workload, make(), place, plan)
        return {name: work for name, work in found.items() if name in good}

    copies = place.room(first.values) if good else 0
    times, sittings = measure_interleaved(good, again, min(plan.sittings, 1 + copies), place, plan)
    size = "x".join(str(v) for v in extents.values())
    rows = [_row(workload, size, name, error, ours) for name, error in errors.items()]
    return [_timed(replace(row, sittings=sittings), times, workload, extents, plan) for row in rows]


def contenders_of(workload: Workload, call: Call, place: Place, plan: Plan) -> dict[str, Work]:
    """Our call, the benchmark's peers and the caller's, on the same arrays."""
    found: dict[str, Work] = {OURS: call.work, **place.peers(workload, call.values)}
    for name, peer in plan.peers.items():
        found[name] = lambda peer=peer: peer(call.values)
    return found


def measure_interleaved(
    first: Mapping[str, Work],
    again: Callable[[], Mapping[str, Work]],
    sittings: int,
    place: Place,
    plan: Plan,
) -> tuple[dict[str, list[float]], int]:
    """Times per contender, one per round, sitting after sitting; and how many sittings there were.

    A sitting has arrays of its own, made by `again`: where they lie changes a time by some percent.
    All have as many rounds; more than asked for while an interval is wide.
    """
    share = -(-plan.rounds // sittings)
    found: list[Interleaved] = []
    for number in range(sittings):
        contenders = again() if number else first
        samplers = {n: place.sampler(w, plan.inner) for n, w in contenders.items()}
        found.append(Interleaved(samplers, plan.seed + number))
    found[0].warm(plan.warm)
    times: dict[str, list[float]] = {}
    for _ in range(MOST):
        for sitting in found:
            sitting.run(share)
        times = {n: [t for sitting in found for t in sitting.times[n]] for n in first}
        if all(is_narrow(t) for t in times.values()):
            break
    return times, sittings


def is_narrow(times: Sequence[float]) -> bool:
    """Whether more rounds would hardly tell more about the median."""
    known = estimate(times)
    return max(known.high - known.median, known.median - known.low) <= NARROW * known.median


def outputs_of(kernel: Kernel) -> list[TensorParameter]:
    """The tensors that a kernel writes."""
    return [p for p in kernel.parameters if isinstance(p, TensorParameter) and p.writes]


def verify(
    work: Work,
    outputs: Sequence[TensorParameter],
    values: Mapping[str, Any],
    answer: Mapping[str, Any],
) -> float:
    """Run a contender once on poisoned outputs and return its relative error; inputs are put back."""
    kept = {p.name: values[p.name].copy() for p in outputs}
    for parameter in outputs:
        if not parameter.reads:
            poison(values[parameter.name])
    work()
    error = max(relative_error(values[p.name], answer[p.name]) for p in outputs)
    for name, array in kept.items():
        values[name][...] = array
    return error


def poison(array: Any) -> None:
    """Fill with what no kernel may leave behind: NaN, or the smallest integer."""
    array.fill(np.nan if array.dtype.kind in "fV" else np.iinfo(array.dtype).min)


def relative_error(found: Any, answer: Any) -> float:
    """||found - answer|| / ||answer||; inf where a NaN is left, so that it never passes."""
    gap = found.astype("float64") - answer
    size = float((answer * answer).sum()) ** 0.5
    error = float((gap * gap).sum()) ** 0.5 / (size or 1.0)
    return error if error == error else float("inf")


def _row(workload: Workload, size: str, name: str, error: float, ours: Ours) -> Row:
    passed = error <= workload.tolerance
    if name == OURS:
        words = " ".join(f"{k}={v}" for k, v in ours.constants.items())
        row = Row(workload.name, size, name, words, error, passed)
        return replace(row, arithmetic=ours.arithmetic, chosen=ours.chosen)
    kind = arithmetic.of_peer(workload, name)
    same = kind == workload.unit
    return Row(workload.name, size, name, "", error, passed, arithmetic.NAMES.get(kind, ""), same)


def _timed(
    row: Row, times: Mapping[str, list[float]], workload: Workload, extents: Extents, plan: Plan
) -> Row:
    """The row with its times, where it was timed."""
    if row.contender not in times:
        return row
    peer = next((times[n] for n in times if n != OURS), list[float]())
    kind = workload.unit if row.ours else arithmetic.of_peer(workload, row.contender)
    flops, traffic = workload.flops(extents), workload.traffic(extents)
    return timed(row, times[row.contender], peer, flops, traffic, plan.peaks.get(kind, math.nan))
