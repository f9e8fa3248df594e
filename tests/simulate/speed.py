"""How long the simulator takes for a GEMM of 1024 cubed, tiles 128 x 256 x 8: wall clock and CPU time.

    python -m tests.simulate.speed [OUT.json]

Through `Kernel.simulate`, compiled before: without any watch, with races and banks (what a call without
options does), and with one CTA traced as well. CPU time is that of all threads.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb.options import CompileOptions
from tests.examples_cases import CASES

SIZE = 1024
TILES = {"TILE_M": 128, "TILE_N": 256, "TILE_K": 8}
RUNS: dict[str, dict[str, Any]] = {
    "plain": {"races": False, "banks": False},
    "races and banks": {},
    "traced": {"trace": 1},
}


def timed(options: dict[str, Any]) -> dict[str, float]:
    """Seconds of one simulation, which must be clean and right."""
    kernel = CASES["gemm_fp32"].load(CompileOptions("sm_90a", constants=TILES))
    case, extents = CASES["gemm_fp32"], {"M": SIZE, "N": SIZE, "K": SIZE}
    arguments = case.arrays(extents, np.random.default_rng(0))
    kernel.simulate(**arguments, ctas=[0], races=False, banks=False)
    wall, cpu = time.perf_counter(), time.process_time()
    result = kernel.simulate(**arguments, **options)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert result.clean
    assert case.excess(arguments, {**arguments, **result.outputs})["C"] <= 0
    return {"wall_s": round(wall, 2), "cpu_s": round(cpu, 2)}


def main() -> None:
    """Measure and print all of them."""
    found = {name: timed(options) for name, options in RUNS.items()}
    machine = {"cores": len(os.sched_getaffinity(0)), "python": platform.python_version()}
    machine |= {"numpy": np.__version__, "date": date.today().isoformat()}
    text = json.dumps({**machine, "command": "python -m tests.simulate.speed", **found}, indent=1)
    sys.stdout.write(text + "\n")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
