"""Several GEMM shapes tuned together on a GPU, then shapes that the table never saw.

usage: python -m tests.gpu.tune_shapes OUT [--rounds N] [--workers N]

Writes OUT/shapes.json: the table, the regret at tuned shapes, and for every held-out shape the
dispatched configuration's time over that shape's own exhaustive winner, both of one search. Also there:
what calls of held-out shapes compiled, in the session that tuned and in a new one, and how long that new
one took to load the table. OUT/record-*.json: every search. Exit code 1 where a held-out shape is more
than 10 % behind its winner, or something was compiled.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import phobos_nb as ph
from phobos_nb.arguments.make import random_arguments
from phobos_nb.compilation import stages
from phobos_nb.compilation.dispatch_table import DispatchTable
from phobos_nb.cuda.arrays import to_device
from phobos_nb.tune.outcome import label
from phobos_nb.tune.pool import WorkerPool
from phobos_nb.tune.records import Record, compact
from phobos_nb.tune.settings import Settings
from phobos_nb.tune.shapes import comparable_times
from phobos_nb.tune.shared_compiles import SharedCompiles
from tests.gpu.tune_records import rounded

FILE = Path("examples/gemm_fp32_any.ph")
CHOICES = {"TILE_M": [32, 64, 128, 256], "TILE_N": [32, 64, 128, 256], "TILE_K": [8, 16]}
SPLITS = {"SPLIT_K": [1, 4]}


def shape(m: int, n: int, k: int) -> dict[str, int]:
    """Extents by symbol."""
    return {"M": m, "N": n, "K": k}


TUNED = [
    shape(4096, 4096, 4096), shape(2048, 2048, 2048), shape(1024, 1024, 1024), shape(512, 512, 512),
    shape(4096, 512, 2048), shape(512, 4096, 1024), shape(256, 2048, 4096), shape(256, 256, 4096),
]  # fmt: skip
HELD_OUT = [
    shape(3000, 3000, 3000), shape(1536, 1536, 1536), shape(768, 768, 768), shape(2048, 768, 1024),
    shape(320, 3000, 2500), shape(384, 384, 3072), shape(1000, 1000, 1000), shape(6144, 1024, 512),
]  # fmt: skip


def product(values: Mapping[str, Any]) -> Any:
    """The float64 answer, computed on the GPU."""
    a, b, c = (values[n].astype("float64") for n in "ABC")
    return values["alpha"] * (a @ b) + values["beta"] * c


def arguments(kernel: ph.Kernel, extents: Mapping[str, int]) -> dict[str, Any]:
    """Random arrays on the GPU."""
    given = {**extents, "alpha": 1.0, "beta": 0.5}
    made = random_arguments(kernel.name, kernel.parameters, given, np.random.default_rng(0))
    return {n: to_device(v) if hasattr(v, "dtype") else v for n, v in made.items()}


class Counted:
    """Counts what is lowered or handed to NVRTC from now on."""

    def __init__(self) -> None:
        self.count = 0
        for name in ("lower", "machine_code"):
            setattr(stages, name, self.counting(getattr(stages, name)))

    def counting(self, function: Any) -> Any:
        """The function, counted."""

        def call(*arguments: Any, **named: Any) -> Any:
            self.count += 1
            return function(*arguments, **named)

        return call


def held_out(kernel: ph.Kernel, options: Mapping[str, Any]) -> Iterator[ph.Tuning]:
    """A search of each held-out shape on its own."""
    for extents in HELD_OUT:
        values = arguments(kernel, extents)
        yield kernel.tune(**values, **options, choices={**CHOICES, **SPLITS}, remember=False)


def judged(tuning: ph.Tuning, table: DispatchTable) -> dict[str, Any]:
    """Where the dispatched configuration stands in a held-out shape's own search."""
    extents, times = tuning.record.identity.extents, comparable_times(tuning.record)
    order = sorted(times, key=lambda name: times[name])
    mine = label(table.choose(extents) or {})
    return {
        **extents,
        "chosen": mine,
        "chosen_ms": times[mine],
        "best": order[0],
        "best_ms": times[order[0]],
        "behind": times[mine] / times[order[0]] - 1.0,
        "place": order.index(mine) + 1,
        "of": len(order),
    }


def times_at(record: Record) -> dict[str, Any]:
    """All right configurations with their times in ms, as short as may be."""
    times = {n: float(f"{t:.4g}") for n, t in comparable_times(record).items()}
    return {"extents": dict(record.identity.extents), "ms": times}


def keep(record: Record, out: Path) -> None:
    """The record as a small file."""
    name = "-".join(str(v) for v in record.identity.extents.values())
    (out / f"record-{name}.json").write_text(compact(rounded(record)), "utf-8")


def fresh_session() -> Any:
    """A new process that loads the table and calls held-out shapes; what it measured."""
    command = [sys.executable, "-m", "tests.gpu.tune_shapes", "--calls"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        print(done.stderr)
        return {"compiled": -1}
    return json.loads(done.stdout.splitlines()[-1])


def calls() -> dict[str, Any]:
    """Call every held-out shape; seconds of the first call, which loads the table, and what followed."""
    kernel = ph.load(FILE).gemm
    values = [arguments(kernel, extents) for extents in HELD_OUT]
    begun = time.perf_counter()
    kernel(**values[0])
    first = time.perf_counter() - begun
    counted = Counted()
    begun = time.perf_counter()
    for one in values[1:]:
        before = one["C"].copy()
        kernel(**one)
        wanted = product({**one, "C": before})
        assert float(abs(one["C"] - wanted).max()) < 1e-2
    rest = time.perf_counter() - begun
    return {"first_call_s": round(first, 3), "other_calls_s": round(rest, 3), "compiled": counted.count}


def main() -> int:
    """Tune, judge held-out shapes, call them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--calls", action="store_true")
    parsed = parser.parse_args()
    if parsed.calls:
        print(json.dumps(calls()))
        return 0
    parsed.out.mkdir(parents=True, exist_ok=True)
    os.environ["PHOBOS_CACHE_DIR"] = tempfile.mkdtemp()
    begun = time.perf_counter()
    kernel = ph.load(FILE).gemm
    pool = WorkerPool(parsed.workers or Settings().width, 120.0)
    shared = SharedCompiles(pool)
    options = {"executor": shared, "rounds": parsed.rounds, "isolate": False, "reference": product}
    found = kernel.tune(
        shapes=TUNED, max_configs=4, choices={**CHOICES, **SPLITS}, alpha=1.0, beta=0.5, **options
    )
    seconds = time.perf_counter() - begun
    print(found, f"\n{seconds:.1f} s, {shared.compiled} compiled", flush=True)
    counted = Counted()
    for extents in HELD_OUT:
        kernel(**arguments(kernel, extents))
    here = counted.count
    for tuning in found.tunings:
        keep(tuning.record, parsed.out)
    later = fresh_session()
    print(f"compiled during calls: {here} here, in a new session {later}", flush=True)
    rows, searched = [], []
    for tuning in held_out(kernel, options):
        keep(tuning.record, parsed.out)
        searched.append(tuning)
        rows.append(judged(tuning, found.table))
        print(rows[-1], flush=True)
    pool.shutdown(wait=False, cancel_futures=True)
    record = found.tunings[0].record
    result = {
        "what": "configurations picked for 8 shapes, dispatched to 8 others: tests/gpu/tune_shapes.py",
        "device": record.identity.device,
        "date": record.date,
        "host": dict(record.host),
        "command": f"python -m tests.gpu.tune_shapes {' '.join(sys.argv[1:])}",
        "seconds_to_tune": round(seconds, 1),
        "seconds": round(time.perf_counter() - begun, 1),
        "compiled_during_calls": {"tuning session": here, "new session": later},
        "mean_regret": found.mean_regret,
        "held_out": rows,
        "times": [times_at(t.record) for t in (*found.tunings, *searched)],
        "table": json.loads(found.table.to_json()),
    }
    (parsed.out / "shapes.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    worst = max(row["behind"] for row in rows)
    print(f"worst held-out shape: {worst:+.1%}")
    return int(worst > 0.10 or here != 0 or later["compiled"] != 0)


if __name__ == "__main__":
    sys.exit(main())
