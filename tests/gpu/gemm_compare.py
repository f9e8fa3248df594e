"""Stored GEMM variants on the GPU: checked against float64, then timed beside cublasSgemm; JSON.

usage: python -m tests.gpu.gemm_compare FOLDER RESULTS.json [--sizes M,N,K ...] [--rounds N]
       [--only TEXT]

FOLDER is what `python -m tests.gpu.gemm_variants FOLDER` wrote, here or where no GPU is. Each variant
is checked twice: with alpha 1, beta 0 on an output of 1e30, so that an element nobody writes shows, and
with alpha .5, beta 2. Times are of alpha 1, beta .5 for all, interleaved in random order; a ratio above
1 is faster than cublasSgemm. What errs by more than sums in f32 can is not timed; `ok` says whether the
error is at most twice cuBLAS's.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from phobos_nb.arguments.variant import suits
from phobos_nb.cuda.arrays import library_of
from phobos_nb.cuda.bind import bound_call
from phobos_nb.cuda.driver import cupy
from phobos_nb.cuda.peers import cublas_gemm
from phobos_nb.cuda.timing import time_interleaved
from tests.gpu.circumstances import circumstances
from tests.gpu.stored import StoredKernel, load

PEER = "cublasSgemm"
UNWRITTEN = 1e30
Size = tuple[int, int, int]
Call = Callable[[float, float], Callable[[], object]]
Arrays = tuple[Any, Any, Any]
Contenders = Callable[[Arrays, Size], dict[str, Call]]


def calls(kernels: list[StoredKernel], arrays: Arrays, size: Size) -> dict[str, Call]:
    """What can run on these arrays, by name: makers of a call for given alpha and beta."""
    a, b, c = arrays
    found: dict[str, Call] = {PEER: lambda alpha, beta: cublas_gemm(a, b, c, alpha, beta)}
    extents = dict(zip("MNK", size, strict=True))
    described = [library_of(x).describe(x) for x in arrays]
    for kernel in kernels:
        kept = all(extents[s] % m == 0 for s, m in kernel.contract.promises.items())
        if kept and suits(kernel.contract.variant, described):
            found[kernel.code.stem] = lambda alpha, beta, k=kernel: bound_call(
                k.dispatcher, (a, b, c, alpha, beta)
            )
    return found


def errors(call: Call, arrays: Arrays, product: Any, old: Any) -> list[float]:
    """Relative errors of the two checks."""
    module, c = cupy(), arrays[2]
    c.fill(UNWRITTEN)
    call(1.0, 0.0)()
    first = gap(c, product)
    c[...] = old
    call(0.5, 2.0)()
    second = gap(c, 0.5 * product + 2.0 * old.astype(module.float64))
    return [first, second]


def gap(found: Any, answer: Any) -> float:
    """||found - answer|| / ||answer||, in float64."""
    module = cupy()
    return float(module.linalg.norm(found - answer) / module.linalg.norm(answer))


def sound(k: int) -> float:
    """An error that sums of k products in f32, one after the other, stay below."""
    return 2.0**-24 * (4 + 2 * math.sqrt(k))


def run(contenders: Contenders, size: Size, rounds: int) -> Iterator[dict[str, Any]]:
    """The rows of one size."""
    module = cupy()
    m, n, k = size
    rng = module.random.default_rng(7)
    a, b, old = (rng.standard_normal(s, dtype=module.float32) for s in ((m, k), (k, n), (m, n)))
    arrays = a, b, module.empty((m, n), module.float32)
    product = a.astype(module.float64) @ b.astype(module.float64)
    possible = contenders(arrays, size)
    wrong: dict[str, list[float]] = {
        name: errors(c, arrays, product, old) for name, c in possible.items()
    }
    limit = 2 * max(wrong[PEER])
    arrays[2][...] = old
    right = {name for name, found in wrong.items() if max(found) <= max(limit, sound(k))}
    good = {name: c(1.0, 0.5) for name, c in possible.items() if name in right}
    flop = 2 * m * n * k
    inner = max(1, min(20, int(4e10 / flop)))
    times = time_interleaved(good, rounds=rounds, inner=inner, seed=sum(size))
    peer = times[PEER]
    for name in possible:
        held = max(wrong[name]) <= limit
        row: dict[str, Any] = {"size": size, "name": name, "errors": wrong[name], "ok": held}
        if name in times:
            found = times[name]
            row |= {
                "median_ms": found.median, "fastest_ms": found.fastest,
                "tflops": flop / found.median / 1e9, "ratio": peer.median / found.median,
                "best_ratio": peer.fastest / found.fastest,
            }  # fmt: skip
        yield row


def main() -> int:
    """Run all sizes, write the rows, print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    squares = ["1024", "2048", "4096", "8192"]
    parser.add_argument("--sizes", nargs="+", default=squares, help="N or M,N,K")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="keep variants whose name holds this")
    parsed = parser.parse_args()
    kernels = [k for k in load(parsed.folder) if parsed.only in k.code.stem]
    return compare(partial(calls, kernels), parsed.sizes, parsed.rounds, parsed.results)


def compare(contenders: Contenders, sizes: list[str], rounds: int, results: Path) -> int:
    """Run all sizes, show them, write the rows; 1 where a result was wrong."""
    rows: list[dict[str, Any]] = []
    for text in sizes:
        numbers = [int(x) for x in text.split(",")]
        m, n, k = (numbers * 3)[:3] if len(numbers) == 1 else numbers
        found = list(run(contenders, (m, n, k), rounds_for([m, n, k], rounds)))
        show(found)
        rows += found
        results.write_text(json.dumps({**circumstances(), "rows": rows}), "utf-8")
    return int(any(not row["ok"] for row in rows))


def rounds_for(size: list[int], rounds: int) -> int:
    """Fewer rounds where one takes long."""
    return max(5, rounds // 3) if size[0] * size[1] * size[2] > 1e11 else rounds


def show(rows: list[dict[str, Any]]) -> None:
    """One line per variant, fastest first; wrong ones last."""
    print("size", rows[0]["size"])
    for row in sorted(rows, key=lambda r: -r.get("ratio", 0)):
        if "ratio" in row:
            speed = f"{row['tflops']:6.2f} TFLOP/s {row['ratio']:.4f}x best {row['best_ratio']:.4f}x"
            speed += "" if row["ok"] else " ERROR ABOVE TWICE THE PEER'S"
        else:
            speed = "WRONG"
        print(f"  {row['name']:72} {speed} error {max(row['errors']):.1e}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
