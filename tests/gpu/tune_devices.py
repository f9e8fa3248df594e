"""One search on one GPU and on all GPUs of a machine: at most 0.6 of the time on two.

usage: python -m tests.gpu.tune_devices OUT.json [--size 8192] [--samples 16] [--dask]

The 64 configurations of gemm_fp32, each search from nothing: its own cache of compiled code, no record.
With --dask, a smaller search on a LocalCluster with a worker per GPU, which compiles and measures.
Exit code 1 when two GPUs took more than 0.6 of the time, or winners are over 1 % apart.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import phobos_nb as ph
from phobos_nb.bench.place import Gpu
from phobos_nb.bench.report import facts
from phobos_nb.cuda.arrays import to_device
from phobos_nb.tune.devices import gpus_here
from phobos_nb.tune.outcome import Measured
from phobos_nb.tune.search import Event
from phobos_nb.tune.statistics import estimate


def reference(values: Any) -> Any:
    a, b, c = (values[n].astype("float64") for n in "ABC")
    return values["alpha"] * (a @ b) + values["beta"] * c


def arrays(size: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    made = {n: to_device(rng.standard_normal((size, size), dtype=np.float32)) for n in "ABC"}
    return {**made, "alpha": 1.0, "beta": 0.5}


def search(values: Any, devices: Any, samples: int, **options: Any) -> dict[str, Any]:
    """One search from nothing, with its times."""
    begun = time.perf_counter()
    marks: dict[str, float] = {}

    def listener(event: Event) -> None:
        now = time.perf_counter() - begun
        marks.setdefault(f"first event of {event.stage}", now)
        marks[f"last event of {event.stage}"] = now

    with tempfile.TemporaryDirectory() as folder:
        os.environ["PHOBOS_CACHE_DIR"] = folder
        (gemm,) = ph.load("examples/gemm_fp32.ph")
        tuning = gemm.tune(
            **values, devices=devices, samples=samples, reference=reference, against="cublas",
            remember=False, resume=False, listener=listener, **options,
        )  # fmt: skip
        seconds = time.perf_counter() - begun
    print(f"{seconds:.1f} s on {tuning.record.host.get('devices', 'one GPU')}\n{tuning}", flush=True)
    winner = tuning.winner
    return {
        "seconds": seconds,
        "devices": tuning.record.host.get("devices"),
        "marks": marks,
        "best": tuning.best,
        "rounds": winner and len(winner.rounds),
        "milliseconds": winner and estimate(winner.rounds).median,
        "ties": list(tuning.record.ties),
        "measured": len([o for o in tuning.record.outcomes.values() if isinstance(o, Measured)]),
        "outcomes": len(tuning.record.outcomes),
        "peers": {n: estimate(t).median for n, t in tuning.record.peers.items()},
    }


def on_cluster(count: int) -> dict[str, Any]:
    """The search with a Dask worker per GPU that measures, and compiles."""
    from distributed import Client, LocalCluster

    values = arrays(2048)
    with (
        LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        (gemm,) = ph.load("examples/gemm_fp32.ph")
        tuning = gemm.tune(
            **values, devices=client, executor=client.get_executor(), reference=reference,
            remember=False, resume=False,
            choices={"TILE_M": [64, 128], "TILE_N": [128, 256], "TILE_K": [8, 16]},
            listener=lambda event: None,
        )  # fmt: skip
    print(tuning, flush=True)
    return {
        "devices": tuning.record.host["devices"],
        "best": tuning.best,
        "measured": len(tuning.measured),
        "failures": [f"{f.label}: {f.reason}" for f in tuning.failures],
    }


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--dask", action="store_true")
    parsed = parser.parse_args()
    values = arrays(parsed.size)
    there = [d.uuid for d in gpus_here()]
    result: dict[str, Any] = {
        "conditions": {**Gpu().conditions(), "gpus": there, "cores": os.cpu_count()},
        "facts": facts(f"python -m tests.gpu.tune_devices {' '.join(sys.argv[1:])}"),
        "size": parsed.size,
        "samples": parsed.samples,
    }
    # The first search after a process begins also pays for CuPy's own kernels: neither is the first.
    search(arrays(256), [0], 1, choices={"TILE_M": 64, "TILE_N": 64, "TILE_K": 8})
    result["all GPUs"] = search(values, "all", parsed.samples)
    result["one GPU"] = search(values, [0], parsed.samples)
    one, every = result["one GPU"], result["all GPUs"]
    result["time of all over one"] = every["seconds"] / one["seconds"]
    print(f"ratio {result['time of all over one']:.3f}", flush=True)
    parsed.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    if parsed.dask:
        result["dask"] = on_cluster(len(there))
        parsed.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    apart = abs(every["milliseconds"] / one["milliseconds"] - 1)
    return int(result["time of all over one"] > 0.6 or apart > 0.01)


if __name__ == "__main__":
    sys.exit(main())
