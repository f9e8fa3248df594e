"""Errors of untuned f32 products against float64 beside cuBLAS's and torch's, over many draws; JSON.

usage: python -m tests.gpu.gemm_errors RESULTS.json [--sizes M,N,K ...] [--draws N]

One product of a few elements is one sample of chance: here the squares of the errors of all draws are
added up before the root is taken. `spread` holds the tenth and the ninetieth percentile of single draws.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from phobos_nb.cuda.driver import cupy
from tests.gpu.circumstances import circumstances
from tests.gpu.gemm_compare import PEER, UNWRITTEN, Size
from tests.gpu.gemm_default import contenders

SIZES = (
    *("2049,2049,2049", "3072,3072,3072", "3,70,300", "1,1,4096", "1,1,65536"),
    *("7,9,1000", "64,64,65536"),
)
MOST_WORK = 2e10
"""Multiply-adds for all draws of a size."""


def errors(size: Size, draws: int) -> dict[str, dict[str, Any]]:
    """For each contender, the relative error over all draws and the spread of single ones."""
    module = cupy()
    m, n, k = size
    rng = module.random.default_rng(11)
    a, b = module.empty((m, k), "f4"), module.empty((k, n), "f4")
    c = module.empty((m, n), "f4")
    possible = contenders([], (a, b, c), size)
    works = {name: call(1.0, 0.0) for name, call in possible.items()}
    wrong: dict[str, list[float]] = {name: [] for name in works}
    norms: list[float] = []
    for _ in range(draws):
        a[...] = rng.standard_normal((m, k), dtype=module.float32)
        b[...] = rng.standard_normal((k, n), dtype=module.float32)
        product = a.astype(module.float64) @ b.astype(module.float64)
        norms.append(float(module.linalg.norm(product)))
        for name, work in works.items():
            c.fill(UNWRITTEN)
            work()
            wrong[name].append(float(module.linalg.norm(c - product)))
    return {name: _summed(found, norms) for name, found in wrong.items()}


def _summed(wrong: list[float], norms: list[float]) -> dict[str, Any]:
    whole = (sum(x * x for x in wrong) / sum(x * x for x in norms)) ** 0.5
    single = sorted(x / n for x, n in zip(wrong, norms, strict=True))
    tenth = len(single) // 10
    return {"error": whole, "spread": [single[tenth], single[-1 - tenth]]}


def main() -> int:
    """Run all sizes, print and write what they erred."""
    parser = argparse.ArgumentParser()
    parser.add_argument("results", type=Path)
    parser.add_argument("--sizes", nargs="+", default=SIZES, help="M,N,K")
    parser.add_argument("--draws", type=int, default=200)
    parsed = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for text in parsed.sizes:
        m, n, k = (int(x) for x in text.split(","))
        draws = max(3, min(parsed.draws, int(MOST_WORK / (m * n * k))))
        found = errors((m, n, k), draws)
        rows.append({"size": [m, n, k], "draws": draws, "found": found})
        for name, row in found.items():
            ratio = row["error"] / found[PEER]["error"]
            print(f"{text:20} {name:60} {row['error']:.2e} {ratio:.2f} of cuBLAS's", flush=True)
    parsed.results.write_text(json.dumps({**circumstances(), "rows": rows}), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
