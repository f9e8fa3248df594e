"""Every bundled kernel searched on a GPU, one record each, for replays without one.

usage: python -m tests.gpu.tune_records OUT [--set SET] [--only NAME ...] [--workers N] [--tiny]

Writes OUT/NAME.json per case, compact; the sets "later" and "latest" are of other sizes and kernels, by
which a model of the time is judged. All configurations of all cases are handed to one pool of compilers
at the start, so that they are busy while earlier cases are measured. Answers are checked against
float64. With --tiny the arrays are small and in CPU memory: a trial of the script itself.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb.tune.autotune import Session
from phobos_nb.tune.pool import WorkerPool
from phobos_nb.tune.records import Record, compact
from phobos_nb.tune.settings import Settings
from phobos_nb.tune.shared_compiles import SharedCompiles
from tests.examples_cases import CASES
from tests.gpu.unseen import UNSEEN


@dataclass(frozen=True)
class Job:
    """One search. shape: extents. choices: what joins the space. fixed: constants that are set."""

    case: str
    shape: Mapping[str, int]
    choices: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, "tuple[int, ...]"])
    fixed: Mapping[str, int] = field(default_factory=dict[str, int])
    tolerance: float | None = None

    @property
    def name(self) -> str:
        """Of its file."""
        sizes = "-".join(f"{n}{v}" for n, v in self.shape.items() if n not in self.fixed)
        return f"{self.case}-{sizes}"


def cube(n: int) -> dict[str, int]:
    """M = N = K."""
    return dict.fromkeys("MNK", n)


SQUARE = {"M": 4096, "N": 4096}
HEADS = {"H": 8, "NQ": 2048, "NK": 2048, "D": 64}
BLOCKS = {"BR": (16, 32, 64, 128), "BC": (16, 32, 64, 128)}
CHUNKS = {"ROWS": (1, 2, 4, 8, 16, 32), "COLS": (64, 128, 256, 512, 1024)}
JOBS = (
    Job("gemm_fp32", cube(4096)),
    Job("gemm_fp32", cube(1024)),
    Job("gemm_fp32_any", {"M": 2000, "N": 3000, "K": 1000}),
    Job("gemm_fp16tc_fp32acc", cube(4096)),
    Job("gemm_fp16tc_fp32acc", cube(1024)),
    Job("gemm_fp16", cube(4096)),
    Job("gemm_fp16", {"M": 512, "N": 2048, "K": 4096}),
    Job("batched_gemm", {"Z": 16, **cube(512)}, {"STAGES": (1, 2, 3)}),
    Job("grouped_gemm", {"M": 4096, "N": 1024, "K": 512, "G": 8, "L": 9}, {"STAGES": (1, 2, 3)}),
    Job("flash_attention_fp32", HEADS, {"STAGES": (1, 2, 3)}, {"D": 64}),
    Job("flash_attention_fp16", HEADS, {"STAGES": (1, 2, 3)}, {"D": 64}),
    Job("attention_f16", HEADS, {"STAGES": (1, 2, 3)}, {"D": 64, "CAUSAL": 0}),
    Job("varlen_attention", {"N": 8192, "H": 8, "B": 17, "D": 32}, {"STAGES": (1, 2)}, {"D": 32}),
    Job("linear_attention", {"H": 64, "T": 2048, "D": 32, "E": 32}, {}, {"D": 32, "E": 32}, 1e-3),
    Job("softmax", SQUARE),
    Job("layer_norm", SQUARE),
    Job("rms_norm", SQUARE),
    Job("argmax", SQUARE),
    Job("scan", SQUARE),
    Job("stencil", SQUARE),
    Job("transpose", SQUARE),
    Job("rotary", {"T": 4096, "H": 32, "D": 32}, {}, {"D": 32}, 1e-3),
    Job("saxpy_fp32", {"N": 1 << 26}),
    Job("segmented_scan", {"N": 1 << 20, "L": 4097}),
    Job("matmul_shared", cube(1024)),
    Job("transpose_shared", SQUARE),
    Job("reduce_shared", {"N": 1 << 24, "B": 1 << 15}),
    Job("histogram", {"N": 1 << 24, "BINS": 256}, {}, {"BINS": 256}),
    Job("mandelbrot", {"R": 1024, "C": 1024}),
)

LATER = (
    Job("gemm_fp16tc_fp32acc", cube(2048)),
    Job("gemm_fp16", {"M": 2048, "N": 1024, "K": 2048}),
    Job("gemm_fp16", {"M": 8192, "N": 2048, "K": 512}),
    Job("batched_gemm", {"Z": 64, **cube(256)}, {"STAGES": (2, 3)}),
    Job("grouped_gemm", {"M": 8192, "N": 512, "K": 1024, "G": 16, "L": 17}, {"STAGES": (2, 3)}),
    Job("flash_attention_fp32", {"H": 16, "NQ": 1024, "NK": 4096, "D": 64}, BLOCKS, {"D": 64}),
    Job("flash_attention_fp16", {"H": 4, "NQ": 4096, "NK": 2048, "D": 64}, BLOCKS, {"D": 64}),
    Job("attention_f16_causal", HEADS, BLOCKS, {"D": 64, "CAUSAL": 1}),
    Job("varlen_attention", {"N": 4096, "H": 16, "B": 9, "D": 32}, BLOCKS, {"D": 32}),
    Job("softmax", {"M": 8192, "N": 1024}, CHUNKS),
    Job("layer_norm", {"M": 2048, "N": 8192}, CHUNKS),
    Job("rms_norm", {"M": 16384, "N": 1024}, CHUNKS),
    Job("argmax", {"M": 1024, "N": 16384}, CHUNKS),
    Job("scan", {"M": 1024, "N": 16384}, {"ROWS": (8, 16, 32, 64, 128), "COLS": (16, 32, 64, 128, 256)}),
    Job("stencil", {"M": 2048, "N": 8192}, {"TILE_M": (4, 8, 16, 32, 64), "TILE_N": (32, 64, 128, 256)}),
    Job("transpose", {"M": 8192, "N": 2048}, {"TILE_M": (8, 16, 32, 64), "TILE_N": (8, 16, 32, 64)}),
    Job(
        "rotary", {"T": 2048, "H": 64, "D": 32}, {"ROWS": (1, 2, 4, 8, 16, 32, 64, 128)}, {"D": 32}, 1e-3
    ),
    Job("saxpy_fp32", {"N": 1 << 24}, {"TILE": (128, 256, 512, 1024, 2048, 4096, 8192)}),
    Job("bias_gelu", {"M": 4096, "N": 2048}),
    Job("unit_rows", SQUARE),
    Job("column_means", SQUARE),
    Job("two_products", cube(2048)),
)
"""Other sizes, wider spaces and other kernels: what an order of configurations is judged by."""

TURNS = {"ROWS": (1, 2, 4, 8, 16, 32, 64, 128)}
LATEST = (
    Job("layer_norm", {"M": 8192, "N": 2048}, CHUNKS),
    Job("rms_norm", {"M": 1024, "N": 16384}, CHUNKS),
    Job("softmax", {"M": 1024, "N": 8192}, CHUNKS),
    Job("argmax", {"M": 8192, "N": 2048}, CHUNKS),
    Job("scan", {"M": 4096, "N": 2048}, {"ROWS": (8, 16, 32, 64, 128), "COLS": (16, 32, 64, 128, 256)}),
    Job("rotary", {"T": 1024, "H": 32, "D": 32}, TURNS, {"D": 32}, 1e-3),
    Job("stencil", {"M": 8192, "N": 1024}, {"TILE_M": (4, 8, 16, 32, 64), "TILE_N": (32, 64, 128, 256)}),
    Job("transpose", {"M": 1024, "N": 16384}, {"TILE_M": (8, 16, 32, 64), "TILE_N": (8, 16, 32, 64)}),
    Job("saxpy_fp32", {"N": 1 << 22}, {"TILE": (64, 128, 256, 512, 1024, 2048, 4096, 8192)}),
    Job("flash_attention_fp32", {"H": 4, "NQ": 2048, "NK": 512, "D": 64}, BLOCKS, {"D": 64}),
    Job("flash_attention_fp16", {"H": 32, "NQ": 512, "NK": 1024, "D": 64}, BLOCKS, {"D": 64}),
    Job(
        "attention_f16_causal",
        {"H": 16, "NQ": 1024, "NK": 1024, "D": 64},
        BLOCKS,
        {"D": 64, "CAUSAL": 1},
    ),
    Job("batched_gemm", {"Z": 8, **cube(1024)}, {"STAGES": (2, 3)}),
    Job("gemm_fp16", {"M": 1024, "N": 4096, "K": 1024}),
    Job("bias_gelu", {"M": 1024, "N": 8192}),
    Job("unit_rows", {"M": 1024, "N": 16384}),
    Job("column_means", {"M": 1024, "N": 8192}),
    Job("log_sum_exp", SQUARE),
    Job("log_sum_exp", {"M": 512, "N": 32768}),
    Job("swiglu", SQUARE),
    Job("add_transposed", SQUARE),
    Job("unit_columns", SQUARE),
)
"""Once more others, recorded after the order had been judged, and found wanting, by LATER."""

SETS = {"records": JOBS, "later": LATER, "latest": LATEST}


def tiny(job: Job) -> Job:
    """The same with extents of at most 64 (128 for what must be a multiple), for a trial."""
    most = 256 if "gemm" in job.case else 64
    free = {n: v if n in job.fixed else min(v, most) for n, v in job.shape.items()}
    shrunk = {"reduce_shared": {"N": 1024, "B": 2}, "grouped_gemm": {"L": job.shape.get("G", 0) + 1}}
    return replace(job, shape={**free, **shrunk.get(job.case, {})})


def session(job: Job, settings: Settings, to_device: Callable[[Any], Any]) -> Session:
    """The search of a job, ready to run."""
    case = {**CASES, **UNSEEN}[job.case]
    values = case.arrays(job.shape, np.random.default_rng(0))
    kernel = case.load().specialize(**job.fixed)
    reference = case.reference({n: v.copy() if hasattr(v, "copy") else v for n, v in values.items()})
    grid: Any = None
    if job.case == "histogram":
        grid = 132  # any is right; one CTA per SM
    elif case.grid(case.configurations[0], values) is not None:
        grid = lambda constants: case.grid(constants, values)  # noqa: E731
    placed = {n: to_device(v) if hasattr(v, "dtype") else v for n, v in values.items()}
    wanted = replace(settings, reference=reference, choices=dict(job.choices), tolerance=job.tolerance)
    return Session(kernel, placed, grid, wanted)


def rounded(record: Record, digits: int = 5) -> Record:
    """Times to that many significant digits: the timers resolve no more."""

    def short(times: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(float(f"{t:.{digits}g}") for t in times)

    outcomes = {
        n: replace(
            o,
            times=short(o.times),
            rounds=short(o.rounds),
            error=float(f"{o.error:.3g}"),
            compile_seconds=round(o.compile_seconds, 2),
            facts={k: float(f"{v:.4g}") for k, v in o.facts.items()},
        )
        if hasattr(o, "times")
        else replace(o, seconds=round(o.seconds, 3))
        for n, o in record.outcomes.items()
    }
    return replace(record, outcomes=outcomes, peers={n: short(t) for n, t in record.peers.items()})


def main() -> int:
    """Search all; the exit code is the number of cases without a right answer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--workers", type=int)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--set", choices=SETS, default="records")
    parser.add_argument("--tiny", action="store_true")
    parsed = parser.parse_args()
    parsed.out.mkdir(parents=True, exist_ok=True)
    os.environ["PHOBOS_CACHE_DIR"] = tempfile.mkdtemp()
    begun, bad = time.perf_counter(), 0
    jobs = [
        tiny(j) if parsed.tiny else j
        for j in SETS[parsed.set]
        if not parsed.only or j.case in parsed.only
    ]
    pool = WorkerPool(parsed.workers or Settings().width, 120.0)
    settings = Settings(
        executor=SharedCompiles(pool), rounds=parsed.rounds, isolate=False, finalists=6, seed=1
    )
    sessions: list[tuple[Job, Session]] = []
    for job in jobs:
        made = session(job, settings, (lambda v: v) if parsed.tiny else on_gpu)
        if made.place.compiles:
            for constants in made.space:
                settings.executor.submit(*made.job(constants))
        sessions.append((job, made))
    print(f"{time.perf_counter() - begun:6.1f} s  {len(jobs)} cases ready", flush=True)
    for job, made in sessions:
        try:
            tuning = made.tuning()
        except Exception:
            traceback.print_exc()
            bad += 1
            continue
        bad += tuning.winner is None
        (parsed.out / f"{job.name}.json").write_text(compact(rounded(tuning.record)), "utf-8")
        print(f"{time.perf_counter() - begun:6.1f} s  {tuning!r}", flush=True)
        made.values = {}
    pool.shutdown(wait=False, cancel_futures=True)
    return bad


def on_gpu(value: Any) -> Any:
    """A copy on the GPU."""
    from phobos_nb.cuda.arrays import to_device

    return to_device(value)


if __name__ == "__main__":
    sys.exit(main())
