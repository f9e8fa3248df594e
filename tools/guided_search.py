"""How far the guided search gets with a quarter of the trials, on recorded searches.

usage: python tools/guided_search.py [--out PATH] [--seeds N]

Every record is searched again (`phobos_nb.tune.replay`) by the guided strategy with a quarter of its
configurations as budget, over several seeds of the recorded noise. "reached" is the record's best time
over the time of what the search picked. Records of results/records were looked at while the model
(`phobos_nb/tune/model.py`) was made. Those of results/records_later were measured after it was fixed, at
other sizes, in wider spaces and of other kernels: the claim is about them.
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
SEEN = ROOT / "results" / "records"
LATER = ROOT / "results" / "records_later"
OUT = ROOT / "results" / "guided_search.json"

SOURCES = (*sorted((ROOT / "examples").glob("*.ph")), ROOT / "tests" / "gpu" / "unseen.ph")
"""Where the recorded kernels' texts are."""

PART = 4
"""One in how many configurations may be tried."""

SMALLEST = 8
"""Spaces with fewer right configurations are left out: a quarter of them is one trial."""


def kernel_of(record: Record) -> tuple[str, Kernel] | None:
    """The kernel a record is of, by the meaning of its text, and its file; None where it has changed."""
    for path in SOURCES:
        for kernel in load(path, chip=record.identity.target):
            same = kernel.name == record.identity.kernel
            if same and kernel.fingerprint == record.identity.fingerprint:
                return path.stem, kernel.specialize(**record.identity.fixed)
    return None


def row_of(path: Path, record: Record, seeds: int) -> dict[str, Any] | None:
    """What the guided search reaches on one record; None for one that says nothing."""
    times = comparable_times(record)
    found = kernel_of(record)
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
        "file": name,
        "kernel": kernel.name,
        "extents": dict(record.identity.extents),
        "configurations": len(record.outcomes),
        "right": sum(isinstance(o, Measured) for o in record.outcomes.values()),
        "trials": trials,
        "reached": round(statistics.median(reached), 4),
        "least": round(min(reached), 4),
    }


def rows(folder: Path, seeds: int) -> Iterator[dict[str, Any]]:
    """All records of a folder that say something."""
    for path in sorted(folder.glob("*.json")):
        row = row_of(path, read(path), seeds)
        if row is not None:
            yield row


def judged(seen: list[dict[str, Any]], later: list[dict[str, Any]]) -> dict[str, Any]:
    """Both sets of rows with what the later ones say."""
    return {
        "what": f"guided search with 1/{PART} of the configurations, on recorded searches",
        "command": "python tools/guided_search.py",
        "later": summary(later),
        "seen": summary(seen),
        "rows of later records": later,
        "rows of seen records": seen,
    }


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts and middle of the rows."""
    reached = [row["reached"] for row in found]
    return {
        "records": len(reached),
        "at least 0.98": sum(r >= 0.98 for r in reached),
        "median": statistics.median(reached) if reached else None,
        "least": min(reached, default=None),
    }


def main() -> None:
    """Write the judgement and print a line per record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--seeds", type=int, default=10)
    parsed = parser.parse_args()
    seen, later = (list(rows(folder, parsed.seeds)) for folder in (SEEN, LATER))
    for row in (*seen, *later):
        print(f"{row['reached']:.3f} {row['least']:.3f} {row['trials']:3} {row['record']}")
    found = judged(seen, later)
    print("later:", found["later"], "seen:", found["seen"])
    parsed.out.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
