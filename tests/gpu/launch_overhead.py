"""Host time of calls, graph replays on changed data, launches on torch's side streams.

usage: python -m tests.gpu.launch_overhead RESULTS.json [--folder FOLDER]

With FOLDER (of `tests.gpu.prepare`) the stored gemm_fp32 is launched; without it `phobos_nb.load`
compiles one here, and calls go through `Kernel` itself. The floor of every launch, the driver's own
time, is measured by the same launch with everything prepacked (`tests/gpu/launch_floor.py`).
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

import phobos_nb as ph
from phobos_nb.cuda.bind import bound_call
from phobos_nb.cuda.driver import describe_gpus, package_versions
from phobos_nb.cuda.timing import capture
from tests.gpu.launch_floor import floors
from tests.gpu.stored import load

SIZE = 64
CALLS = 10_000
ROUNDS = 10

Work = Callable[[], object]

RAW = r"""
extern "C" __global__ void gemm(const float* A, const float* B, float* C, long long M,
                                long long K, long long N, long long sa, long long sb, long long sc,
                                float alpha, float beta) {
  long long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M * N) return;
  float sum = 0;
  for (long long k = 0; k < K; ++k) sum += A[i / N * sa + k] * B[k * sb + i % N];
  C[i / N * sc + i % N] = alpha * sum + beta * C[i / N * sc + i % N];
}
"""


def interleaved(contenders: Mapping[str, Work], calls: int = CALLS) -> dict[str, dict[str, float]]:
    """Host time of single calls in microseconds: median, 10th and 90th percentile of `calls`.

    In rounds of random order, so that a busy moment of the host does not fall on one contender. The GPU
    is waited for outside the timed calls every 100, so that the queue never fills.
    """
    times: dict[str, list[int]] = {name: [] for name in contenders}
    order = list(contenders)
    for _ in range(ROUNDS):
        random.shuffle(order)
        for name in order:
            times[name] += one_round(contenders[name], calls // ROUNDS)
    return {name: summary(found) for name, found in times.items()}


def one_round(work: Work, calls: int) -> list[int]:
    """Nanoseconds of each call, after some that are not counted."""
    clock, found = time.perf_counter_ns, list[int]()
    for i in range(-50, calls):
        start = clock()
        work()
        stop = clock()
        if i >= 0:
            found.append(stop - start)
        if i % 100 == 99:
            cp.cuda.runtime.deviceSynchronize()
    return found


def summary(times: list[int]) -> dict[str, float]:
    """Median and percentiles in microseconds."""
    cuts = statistics.quantiles(times, n=10)
    return {
        "median_us": statistics.median(times) / 1e3,
        "p10_us": cuts[0] / 1e3,
        "p90_us": cuts[8] / 1e3,
    }


class Subject:
    """Our gemm: `call(A, B, C, alpha, beta)` and `bind` of the same."""

    def __init__(self, folder: Path | None) -> None:
        if folder is None:
            example = Path(__file__).parents[2] / "examples" / "gemm_fp32.ph"
            kernel = ph.load(example, TILE_M=32, TILE_N=32, TILE_K=4).gemm
            self.call, self.bind, self.dispatcher = kernel, kernel.bind, kernel._device()
            return
        stored = next(
            k
            for k in load(folder)
            if k.case == "gemm_fp32" and k.kind == "cubin" and k.contract.variant.aligned
        )
        self.dispatcher = dispatcher = stored.dispatcher
        self.call = lambda *arguments: dispatcher(arguments)
        self.bind = lambda *arguments: bound_call(dispatcher, arguments)


def triton_call(a: Any, b: Any, c: Any) -> Work | None:
    """A Triton kernel with the same kinds of arguments, None without Triton."""
    try:
        from tests.gpu import triton_gemm
    except ImportError:
        return None
    return triton_gemm.call(a, b, c)


def overheads(subject: Subject) -> dict[str, Any]:
    """Host time per launch beside CuPy's RawKernel and Triton, on CuPy and on torch arrays."""
    import torch

    rng = np.random.default_rng(0)
    a, b, c = (cp.asarray(rng.standard_normal((SIZE, SIZE), dtype=np.float32)) for _ in range(3))
    ta, tb, tc = (torch.from_dlpack(x) for x in (a, b, c))
    raw = cp.RawKernel(RAW, "gemm")
    raw_arguments = (a, b, c, SIZE, SIZE, SIZE, SIZE, SIZE, SIZE, np.float32(1), np.float32(0))
    call, bound = subject.call, subject.bind(a, b, c, 1.0, 0.0)
    contenders: dict[str, Work | None] = {
        "gemm(A, B, C, 1.0, 0.0), CuPy": lambda: call(a, b, c, 1.0, 0.0),
        "gemm(A, B, C, 1.0, 0.0), torch": lambda: call(ta, tb, tc, 1.0, 0.0),
        "bind(...)(), CuPy": bound,
        "bind(...)(), torch": subject.bind(ta, tb, tc, 1.0, 0.0),
        "CuPy RawKernel": lambda: raw((16,), (256,), raw_arguments),
        "Triton": triton_call(ta, tb, tc),
        **floors(subject.dispatcher, (a, b, c, 1.0, 0.0)),
    }
    return interleaved({name: work for name, work in contenders.items() if work is not None})


def graph_replays(subject: Subject, replays: int = 1000) -> dict[str, Any]:
    """Replay a captured bound call on data that changes before each replay; all results right."""
    rng = np.random.default_rng(1)
    a, b, c = (cp.asarray(rng.standard_normal((SIZE, SIZE), dtype=np.float32)) for _ in range(3))
    run = subject.bind(a, b, c, 1.0, 0.0)
    stream = cp.cuda.Stream(non_blocking=True)
    run()
    cp.cuda.runtime.deviceSynchronize()
    graph = capture(run, stream)
    wrong = 0
    with stream:
        for _ in range(replays):
            a[...] = cp.random.standard_normal((SIZE, SIZE), dtype=cp.float32)
            c[...] = 0
            graph.launch(stream)
            wrong += not cp.allclose(c, a.astype("f8") @ b.astype("f8"), atol=1e-4)
    return {"replays": replays, "wrong": int(wrong)}


def side_streams(subject: Subject, launches: int = 100) -> dict[str, Any]:
    """Launch from torch on fresh side streams, after slow work there: another stream would race."""
    import torch

    wrong = 0
    for i in range(launches):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000)
            a, b = (torch.full((SIZE, SIZE), 1.0 + i, device="cuda") for _ in range(2))
            c = torch.zeros(SIZE, SIZE, device="cuda")
            subject.call(a, b, c, 1.0, 0.0)
            wanted = a.double() @ b.double()
            wrong += not torch.allclose(c.double(), wanted, rtol=1e-5)
    return {"launches": launches, "wrong": wrong}


def main() -> int:
    """Run all three, write and print; 1 when a result was wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("results", type=Path)
    parser.add_argument("--folder", type=Path)
    parsed = parser.parse_args()
    subject = Subject(parsed.folder)
    found = {
        "gpu": describe_gpus()[0],
        "versions": package_versions(),
        "host": overheads(subject),
        "graph": graph_replays(subject),
        "streams": side_streams(subject),
    }
    parsed.results.write_text(json.dumps(found, indent=1), "utf-8")
    print(json.dumps(found, indent=1))
    return int(bool(found["graph"]["wrong"] or found["streams"]["wrong"]))


if __name__ == "__main__":
    sys.exit(main())
