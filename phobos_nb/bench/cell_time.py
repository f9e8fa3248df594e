"""How long a `%%phobos` cell takes: the first of a fresh kernel, later new ones, one seen before.

usage: phobos-nb bench --cell [--examples FOLDER] [--json PATH]

Each measurement is a fresh Python process with an IPython shell and an empty disk cache: the extension
is loaded, then cells run as a notebook runs them, up to the HTML that the page is sent. "CPU" counts the
seconds of all processors, child processes included: less than the total on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

BUDGET = {"first": 2.5, "new": 0.6, "cached": 0.1}
"""Seconds allowed for each kind of cell, on two cores."""

EXAMPLE = "gemm_fp32.ph"


def measure(example: Path, repeats: int) -> dict[str, Any]:
    """Medians over fresh processes: seconds per kind of cell, split by stage."""
    runs = [_in_fresh_process(example) for _ in range(repeats)]
    kinds = {kind: _median([run[kind] for run in runs]) for kind in ("load", *BUDGET)}
    kept = {k: all(run[k]["total"] <= limit for run in runs) for k, limit in BUDGET.items()}
    return {"seconds": kinds, "budget": BUDGET, "kept_in_all_runs": kept, "repeats": repeats}


def _median(runs: list[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for run in runs for name in run)
    return {n: round(statistics.median([run.get(n, 0.0) for run in runs]), 4) for n in names}


def _in_fresh_process(example: Path) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-m", __name__, str(example)],
            env={**os.environ, "PHOBOS_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=True,
        )
    return json.loads(done.stdout.splitlines()[-1])


def cells_in_this_process(example: Path) -> dict[str, dict[str, float]]:
    """Load the extension and run the cells; this process should have done nothing else before."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell: Any = InteractiveShell.instance()
    text = example.read_text("utf-8")

    def timed(cell: str) -> dict[str, float]:
        with capture_output():
            start, spent = time.perf_counter(), sum(os.times()[:4])
            result = shell.run_cell(cell)
            total, spent = time.perf_counter() - start, sum(os.times()[:4]) - spent
        result.raise_error()
        return {"total": total, "CPU": spent}

    first, new = (f"%%phobos -D TILE_M={m}\n{text}" for m in (64, 128))
    found = {"load": timed("%load_ext phobos_nb")}
    for kind, cell in (("first", first), ("new", new), ("cached", new)):
        found[kind] = timed(cell)
        if kind != "cached":
            found[kind] |= _stages(shell.user_ns["gemm"], found[kind]["total"])
    return found


def _stages(kernel: Any, total: float) -> dict[str, float]:
    """What the compilation itself took, by stage; the rest is imports, view and HTML."""
    stages = dict(kernel.compile().timings)
    return {**stages, "imports, view, HTML": total - sum(stages.values())}


def run(parsed: argparse.Namespace) -> int:
    """Measure, print, and write with what repeats it; 1 when a median is over its budget."""
    from phobos_nb.bench.command import provenance
    from phobos_nb.compilation.configuration import resolve
    from phobos_nb.options import CompileOptions

    found = measure(parsed.examples / EXAMPLE, parsed.repeats)
    machine = f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    report = {
        **provenance(machine),
        "example": EXAMPLE,
        "chip": resolve(CompileOptions()).target.name,
        **found,
    }
    print(json.dumps(report, indent=1))
    if parsed.json:
        parsed.json.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    return int(any(found["seconds"][k]["total"] > limit for k, limit in BUDGET.items()))


if __name__ == "__main__":
    print(json.dumps(cells_in_this_process(Path(sys.argv[1]))))
