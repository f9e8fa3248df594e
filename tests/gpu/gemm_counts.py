"""What Nsight Compute counts for the untuned GEMM at one size, beside the simulator's counts; JSON.

usage: python -m tests.gpu.gemm_counts RESULTS.json [--size N] [--simulate-only]

One CTA is simulated and multiplied by the grid; the GPU's counts are of the whole launch.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb.compilation.compilation import Compilation
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.simulate.launch import simulate
from phobos_nb.target import get
from tests.gpu.gemm_default import kernel_for

METRICS = (
    "smsp__inst_executed.sum",
    "smsp__inst_executed_pipe_fma.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "sm__inst_executed_pipe_adu.sum",
    "launch__registers_per_thread",
    "gpu__time_duration.sum",
)


def compiled(kernel: Kernel, size: int) -> Compilation:
    """What the call compiles to on a Hopper card."""
    constants = kernel.constants_for({"M": size, "K": size, "N": size}, get("sm_90a"))
    return kernel.compile(chip="sm_90a", **constants)


def simulated(size: int) -> dict[str, Any]:
    """Counts of one CTA times the grid."""
    compilation = compiled(kernel_for((size, size, size)), size)
    contract = compilation.contract
    values = {name: np.ones((size, size), np.float32) for name in "ABC"} | {"alpha": 1.0, "beta": 0.5}
    found = simulate(compilation.thread_module, contract, values, ctas=[0], races=False)
    grid = contract.grid.shape({"M": size, "N": size, "K": size})
    ctas = int(np.prod(grid))
    kinds: dict[str, int] = {}
    for access in found.accesses:
        prefix = f"{access.space} {access.kind}"
        for what in ("executions", "wavefronts", "sectors"):
            count = getattr(access, what) or 0
            kinds[f"{prefix} {what}"] = kinds.get(f"{prefix} {what}", 0) + count * ctas
    taken = compilation.resources
    return {
        "constants": dict(contract.constants),
        "ctas": ctas,
        "registers": taken.registers,
        "spills": taken.spill_stores,
        "multiply-adds, warp instructions": size**3 // 32,
        "barriers, warps": sum(b.executions for b in found.barriers) * ctas * contract.threads // 32,
        "instructions of the thread IR": found.instructions * ctas,
        **kinds,
    }


def launch(size: int) -> None:
    """One call on the GPU, to be watched."""
    import cupy

    rng = cupy.random.default_rng(1)
    a, b, c = (rng.standard_normal((size, size), dtype=cupy.float32) for _ in range(3))
    kernel_for((size, size, size))(a, b, c, 1.0, 0.5)
    cupy.cuda.runtime.deviceSynchronize()


def counted(size: int) -> dict[str, str]:
    """The counts of Nsight Compute, by metric; its message where it does not run."""
    command = ["ncu", "--csv", "--metrics", ",".join(METRICS), "--kernel-name", "regex:gemm"]
    own = [sys.executable, "-m", "tests.gpu.gemm_counts", "-", "--launch", "--size", str(size)]
    try:
        done = subprocess.run([*command, *own], capture_output=True, text=True, timeout=100, check=False)
    except OSError as error:
        return {"ncu": str(error)}
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    found = {row["Metric Name"]: row["Metric Value"] for row in csv.DictReader(lines)}
    return found or {"ncu": (done.stdout + done.stderr)[-1500:]}


def main() -> int:
    """Count both and write them side by side."""
    parser = argparse.ArgumentParser()
    parser.add_argument("results", type=Path)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--launch", action="store_true", help="only call once, on the GPU")
    parser.add_argument("--simulate-only", action="store_true")
    parsed = parser.parse_args()
    if parsed.launch:
        launch(parsed.size)
        return 0
    found = {"size": parsed.size, "simulator": simulated(parsed.size)}
    if not parsed.simulate_only:
        found["ncu"] = counted(parsed.size)
    parsed.results.write_text(json.dumps(found, indent=1), "utf-8")
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
