"""How far the guided search gets with a quarter of the trials, on recorded searches.

usage: python tools/guided_search.py [--records FOLDER] [--out PATH] [--seeds N]

Every record is searched again (`phobos_nb.tune.replay`) by the guided strategy with a quarter of its
configurations as budget, over several seeds of the recorded noise. "reached" is the record's best time
over the time of what the search picked. Kernels that the model was fitted to, and its parts were
chosen by, are marked: the claim is about the others.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.compilation.module import load
from phobos_nb.target import get
from phobos_nb.tune.model import predictor
from phobos_nb.tune.outcome import Measured, label
from phobos_nb.tune.records import Record, read
from phobos_nb.tune.replay import replay
from phobos_nb.tune.search import Plan
from phobos_nb.tune.shapes import comparable_times

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "results" / "records"
OUT = ROOT / "results" / "guided_search.json"

FITTED = ("gemm_fp32", "gemm_fp32_any")
"""Examples whose measured times were used while the model was made (`compilation/tile_shape.py`)."""

PART = 4
"""One in how many configurations may be tried."""

SMALLEST = 8
"""Spaces with fewer right configurations are left out: a quarter of them is one trial."""


def example_of(record: Record) -> tuple[str, Kernel] | None:
    """The bundled kernel that a record is of, by the meaning of its text; None where it has changed."""
    chip = record.identity.target
    for path in sorted((ROOT / "examples").glob("*.ph")):
        (kernel,) = load(path, chip=chip)
        if kernel.fingerprint == record.identity.fingerprint:
            return path.stem, kernel.specialize(**record.identity.fixed)
    return None


def row_of(path: Path, record: Record, seeds: int) -> dict[str, Any] | None:
    """What the guided search reaches on one record; None for one that says nothing."""
    times = comparable_times(record)
    found = example_of(record)
    if found is None or len(times) < SMALLEST or record.best is None:
        return None
    name, kernel = found
    predict = predictor(kernel, record.identity.extents, None, get(record.identity.target))
    trials = len(record.outcomes) // PART
    best = times[label(record.best)]
    reached: list[float] = []
    for seed in range(seeds):
        plan = Plan(trials=trials, seed=seed)
        tuning = replay(record, strategy="guided", plan=plan, predict=predict)
        reached.append(0.0 if tuning.best is None else min(1.0, best / times[label(tuning.best)]))
    return {
        "record": path.name,
        "kernel": name,
        "extents": dict(record.identity.extents),
        "configurations": len(record.outcomes),
        "right": sum(isinstance(o, Measured) for o in record.outcomes.values()),
        "trials": trials,
        "reached": round(statistics.median(reached), 4),
        "least": round(min(reached), 4),
        "model knows this kernel": name in FITTED,
    }


def rows(folder: Path, seeds: int) -> Iterator[dict[str, Any]]:
    """All records of a folder."""
    for path in sorted(folder.glob("*.json")):
        row = row_of(path, read(path), seeds)
        if row is not None:
            yield row


def judged(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows with what follows for kernels the model does not know."""
    unknown = [r for r in found if not r["model knows this kernel"]]
    return {
        "what": f"guided search with 1/{PART} of the configurations, on recorded searches",
        "command": "python tools/guided_search.py",
        "held out: median reached": statistics.median(r["reached"] for r in unknown),
        "held out: at least 0.98": sum(r["reached"] >= 0.98 for r in unknown),
        "held out: records": len(unknown),
        "rows": found,
    }


def main() -> None:
    """Write the judgement and print a line per record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--seeds", type=int, default=10)
    parsed = parser.parse_args()
    found: list[dict[str, Any]] = []
    for row in rows(parsed.records, parsed.seeds):
        found.append(row)
        known = " (known)" if row["model knows this kernel"] else ""
        print(f"{row['reached']:.3f} {row['least']:.3f} {row['trials']:3} {row['record']}{known}")
    parsed.out.write_text(json.dumps(judged(found), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
