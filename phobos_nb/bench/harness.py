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

    rounds: interleaved rounds at least; inner: calls per round between two clock readings. warm: seconds
    of calls before the first round. peaks: TFLOP/s by kind of arithmetic, see `workload.PEAKS`.
    peers: a caller's own contenders by name. search: look for the fastest constants first.
    """

    rounds: int = 25
    inner: int = 4
    seed: int = 0
    warm: float = 0.2
    peaks: Mapping[str, float] = field(default_factory=dict[str, float])
    peers: Mapping[str, Peer] = field(default_factory=dict[str, Peer])
    search: bool = False


@dataclass(frozen=True)
class Ours:
    """Our kernel made ready: the call, its constants, where they come from, its arithmetic in words."""

    work: Work
    constants: Mapping[str, int]
    chosen: str
    arithmetic: str


def run_workload(
    workload: Workload, ours: Ours, place: Place, values: Mapping[str, Any], extents: Extents,
    outputs: Sequence[TensorParameter], plan: Plan,
) -> list[Row]:  # fmt: skip
    """Verify and time our kernel and its peers; ours is not timed when its outputs are wrong."""
    contenders: dict[str, Work] = {OURS: ours.work, **place.peers(workload, values)}
    for name, peer in plan.peers.items():
        contenders[name] = lambda peer=peer: peer(values)
    answer = workload.answer(values)
    errors = {name: verify(work, outputs, values, answer) for name, work in contenders.items()}
    good = {n: w for n, w in contenders.items() if errors[n] <= workload.tolerance or n != OURS}
    times = measure_interleaved(good, place, plan)
    first = next((times[n] for n in times if n != OURS), list[float]())
    size = "x".join(str(v) for v in extents.values())
    rows = [_row(workload, size, name, error, ours) for name, error in errors.items()]
    flops, traffic = workload.flops(extents), workload.traffic(extents)
    return [
        timed(row, times[row.contender], first, flops, traffic, _peak(workload, row, plan))
        if row.contender in times
        else row
        for row in rows
    ]


def measure_interleaved(
    contenders: Mapping[str, Work], place: Place, plan: Plan
) -> dict[str, list[float]]:
    """Times per contender, one per round; more rounds than asked for while an interval is wide."""
    found = Interleaved({n: place.sampler(w, plan.inner) for n, w in contenders.items()}, plan.seed)
    found.warm(plan.warm)
    found.run(plan.rounds)
    for _ in range(MOST - 1):
        if all(is_narrow(times) for times in found.times.values()):
            break
        found.run(plan.rounds)
    return found.times


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


def _peak(workload: Workload, row: Row, plan: Plan) -> float:
    kind = workload.unit if row.ours else arithmetic.of_peer(workload, row.contender)
    return plan.peaks.get(kind, math.nan)
