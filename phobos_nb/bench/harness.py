"""Runs one workload at one size: fresh inputs, verified contenders, interleaved times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from phobos_nb.arguments.make import random_arguments
from phobos_nb.bench.workload import Extents, Workload
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.contract import TensorParameter
from phobos_nb.cuda.arrays import to_device
from phobos_nb.cuda.timing import Sample, time_interleaved

OURS = "phobos"

Work = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One contender's result. Times are milliseconds; error is ||out - answer|| / ||answer||."""

    workload: str
    size: str
    contender: str
    constants: str
    error: float
    passed: bool
    median: float = float("nan")
    fastest: float = float("nan")
    tflops: float = float("nan")
    gbps: float = float("nan")
    ratio: float = float("nan")
    peak_percent: float = float("nan")
    same_precision: bool = True


def run_workload(
    workload: Workload,
    kernel: Kernel,
    extents: Extents,
    *,
    rounds: int = 25,
    inner: int = 4,
    seed: int = 0,
    peaks: Mapping[str, float] | None = None,
) -> list[Row]:
    """Verify and time our kernel and its peers; ours is not timed when its outputs are wrong.

    `ratio` is the first peer's median over the contender's: above 1 means faster than that peer.
    peaks: TFLOP/s by kind of arithmetic, see `PEAKS`.
    """
    values = make_values(workload, kernel, extents, np.random.default_rng(seed))
    bound = cast(Any, kernel.bind(**values))
    contenders: dict[str, Work] = {OURS: bound, **workload.peers(values)}
    answer = workload.answer(values)
    outputs = [p for p in kernel.parameters if isinstance(p, TensorParameter) and p.writes]
    errors = {name: verify(work, outputs, values, answer) for name, work in contenders.items()}
    good = {n: w for n, w in contenders.items() if errors[n] <= workload.tolerance or n != OURS}
    times = time_interleaved(good, rounds=rounds, inner=inner)
    rows = _rows(workload, extents, errors, times, bound.contract.constants)
    peak = (peaks or {}).get(workload.unit, float("nan"))
    return [replace(row, peak_percent=100 * row.tflops / peak) for row in rows]


def make_values(workload: Workload, kernel: Kernel, extents: Extents, rng: Any) -> dict[str, Any]:
    """Random arguments on the GPU."""
    given = {**extents, **workload.scalars}
    values = random_arguments(kernel.name, kernel.parameters, given, rng)
    return {n: to_device(v) if hasattr(v, "dtype") else v for n, v in values.items()}


def verify(
    work: Work, outputs: list[TensorParameter], values: Mapping[str, Any], answer: Mapping[str, Any]
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


def _rows(
    workload: Workload,
    extents: Extents,
    errors: Mapping[str, float],
    times: Mapping[str, Sample],
    constants: Mapping[str, int],
) -> list[Row]:
    size = "x".join(str(v) for v in extents.values())
    peer = next((s.median for n, s in times.items() if n != OURS), float("nan"))
    rows: list[Row] = []
    for name, error in errors.items():
        ours = " ".join(f"{k}={v}" for k, v in constants.items()) if name == OURS else ""
        passed = error <= workload.tolerance
        row = Row(workload.name, size, name, ours, error, passed)
        row = replace(row, same_precision=name not in workload.other_precision)
        rows.append(_timed(row, times[name], workload, extents, peer) if name in times else row)
    return rows


def _timed(row: Row, sample: Sample, workload: Workload, extents: Extents, peer: float) -> Row:
    seconds = sample.median / 1e3
    flops, traffic = workload.flops(extents), workload.traffic(extents)
    return replace(
        row,
        median=sample.median,
        fastest=sample.fastest,
        tflops=flops / seconds / 1e12 if flops else float("nan"),
        gbps=traffic / seconds / 1e9 if traffic else float("nan"),
        ratio=peer / sample.median,
    )
