"""The seed's search on a GPU: 64 configurations of gemm_fp32 at 4096^3, end to end, with verification.

usage: python -m tests.gpu.tune_seed OUT [--size N] [--workers N] [--strategy S] [--cold] [--file F.ph]

Writes OUT/tune_seed.{json,csv,png,txt}: the record that replays anywhere, the frame, the figure, the
summary with the wall-clock time of each part. Exit code 1 when it took longer than --limit seconds, or
nothing gave a right answer. Needs CuPy and NVRTC; nothing of an earlier search is used.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import phobos_nb as ph
from phobos_nb.arguments.make import random_arguments
from phobos_nb.cuda.arrays import to_device
from phobos_nb.tune.records import write
from phobos_nb.tune.search import Event
from phobos_nb.tune.settings import Settings


def reference(values: Any) -> Any:
    """The float64 answer, computed on the GPU."""
    a, b, c = (values[n].astype("float64") for n in "ABC")
    return values["alpha"] * (a @ b) + values["beta"] * c


class Clock:
    """Listens and notes when the parts of a search begin and end, in seconds since it was made."""

    def __init__(self) -> None:
        self.begun = time.perf_counter()
        self.marks: dict[str, float] = {}

    def __call__(self, event: Event) -> None:
        now = time.perf_counter() - self.begun
        self.marks.setdefault(f"first event of {event.stage}", now)
        self.marks[f"last event of {event.stage}"] = now
        if event.outcome is not None:
            print(f"{now:6.1f} s  {event.done:3}/{event.total}  {event.outcome}"[:200], flush=True)


def main() -> int:
    """Search, write, judge the time."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--strategy", default="exhaustive")
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--file", type=Path, default=Path("examples/gemm_fp32.ph"))
    parser.add_argument("--limit", type=float, default=60.0)
    parsed = parser.parse_args()
    parsed.out.mkdir(parents=True, exist_ok=True)
    clock = Clock()
    (gemm,) = ph.load(parsed.file)
    n = parsed.size
    given = {"M": n, "N": n, "K": n, "alpha": 1.0, "beta": 0.5}
    made = random_arguments(gemm.name, gemm.parameters, given, np.random.default_rng(0))
    values = {k: to_device(v) if hasattr(v, "dtype") else v for k, v in made.items()}
    clock.marks["arguments on the GPU"] = time.perf_counter() - clock.begun
    before = values["C"].copy()
    tuning = gemm.tune(
        **values,
        reference=reference,
        against="cublas",
        strategy=parsed.strategy,
        workers=parsed.workers or Settings().width,
        cache="cold" if parsed.cold else "warm",
        rounds=parsed.rounds,
        resume=False,
        listener=clock,
    )
    seconds = time.perf_counter() - clock.begun
    assert bool((values["C"] == before).all()), "the user's array was changed"
    gemm(**values)  # a later call uses the winner
    text = report(tuning, clock, seconds, 2.0 * n**3)
    print(text)
    stem = parsed.out / "tune_seed"
    command = f"python -m tests.gpu.tune_seed {' '.join(sys.argv[1:])}"
    host = {**tuning.record.host, "command": command, "seconds": f"{seconds:.1f}"}
    write(replace(tuning.record, host=host), stem.with_suffix(".json"))
    stem.with_suffix(".txt").write_text(text + "\n", "utf-8")
    try:
        tuning.frame.to_csv(stem.with_suffix(".csv"), index=False)
        tuning.plot().savefig(stem.with_suffix(".png"), dpi=120)
    except ImportError as error:
        print(f"{error}: make table and figure elsewhere, from the record")
    return int(seconds > parsed.limit or tuning.winner is None)


def report(tuning: ph.Tuning, clock: Clock, seconds: float, flops: float) -> str:
    """The summary, the rates, and where the time went."""
    lines = [repr(tuning)]
    if tuning.winner is not None:
        lines.append(f"  {flops / tuning.winner.median / 1e9:.1f} TFLOP/s")
    compiling = sum(m.compile_seconds for m in tuning.measured)
    lines.append(f"  {seconds:.1f} s in all; {compiling:.1f} s of compiling, summed over workers")
    lines += [f"  {at:6.1f} s {what}" for what, at in clock.marks.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
