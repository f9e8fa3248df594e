"""Many configurations of f32 products in one run: compiled by a pool, checked, timed beside the peers.

usage: python -m tests.gpu.gemm_search JOBS.json RESULTS.json [--rounds N] [--workers N] [--dry]

JOBS.json is a list of {"size": [M, N, K], "settings": [{name: value}, ...]}; a setting may name an
"example" too. Every kernel is compiled before the GPU is touched; `--dry` stops there. Checks, times and
rows as in gemm_compare.py; what cannot be compiled is printed.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.variant import choose_variant
from phobos_nb.cuda.peers import cublas_gemm, torch
from phobos_nb.options import CompileOptions
from phobos_nb.source import Source
from phobos_nb.target import get
from phobos_nb.tune.compile_job import Compiled, CompileJob, KernelText, compile_job
from phobos_nb.tune.outcome import Failed
from tests.gpu.gemm_compare import PEER, Arrays, Call, Size, compare
from tests.gpu.gemm_default import EXAMPLES, torch_addmm

CHIP = "sm_90a"


def job(size: Size, setting: dict[str, Any]) -> CompileJob:
    """The job of one setting, for arrays that lie as a fresh allocation does."""
    m, n, k = size
    constants = dict(setting)
    path = EXAMPLES / f"{constants.pop('example', 'gemm_fp32_any')}.ph"
    shapes = {"A": (m, k), "B": (k, n), "C": (m, n)}
    arrays = {
        name: ArrayDescription("f32", shape, (4 * shape[1], 4), 0, 4) for name, shape in shapes.items()
    }
    variant = choose_variant(arrays, get(CHIP).default_index_bits)
    text = KernelText(Source(path.read_text("utf-8"), path.name), "gemm", CompileOptions(CHIP))
    return CompileJob(text, variant, constants)


def contenders(made: dict[Size, dict[str, Compiled]], arrays: Arrays, size: Size) -> dict[str, Call]:
    """The peers and what was compiled for a size."""
    from phobos_nb.tune.device_bench import bound

    found: dict[str, Call] = {PEER: lambda alpha, beta: cublas_gemm(*arrays, alpha, beta)}
    if torch() is not None:
        found["torch.addmm"] = torch_addmm(arrays)
    for name, compiled in made[size].items():
        found[name] = lambda alpha, beta, c=compiled: bound(c, [*arrays, alpha, beta], None)
    return found


def compile_all(jobs: list[dict[str, Any]], workers: int) -> dict[Size, dict[str, Compiled]]:
    """Everything compiled, by size and label."""
    wanted: list[tuple[Size, str, CompileJob]] = []
    for entry in jobs:
        m, n, k = entry["size"]
        for setting in entry["settings"]:
            label = " ".join(f"{name}={value}" for name, value in setting.items())
            wanted.append(((m, n, k), label, job((m, n, k), setting)))
    made: dict[Size, dict[str, Compiled]] = {size: {} for size, _, _ in wanted}
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        results = pool.map(compile_job, [x for _, _, x in wanted])
        for (size, label, _), result in zip(wanted, results, strict=True):
            if isinstance(result, Failed):
                print(size, label, result.kind, result.reason[:200])
                continue
            facts = result.facts
            spills = f" spills {facts['spills']:.0f}" if facts["spills"] else ""
            made[size][f"{label} | {facts['registers']:.0f}r {facts['ctas_per_sm']:.0f}c{spills}"] = (
                result
            )
    return made


def main() -> int:
    """Compile, run, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("jobs", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--dry", action="store_true", help="only compile")
    parsed = parser.parse_args()
    made = compile_all(json.loads(parsed.jobs.read_text("utf-8")), parsed.workers)
    if parsed.dry:
        for size, found in made.items():
            print(size, *found, sep="\n  ")
        return 0
    sizes = [",".join(map(str, size)) for size in made]
    return compare(partial(contenders, made), sizes, parsed.rounds, parsed.results)


if __name__ == "__main__":
    sys.exit(main())
