"""The GEMM as a user calls it, nothing set or tuned, checked and timed beside cuBLAS and torch; JSON.

usage: python -m tests.gpu.gemm_default RESULTS.json [--sizes M,N,K ...] [--rounds N] [--also N=V,N=V ..]
       [--random N [--least EXTENT]]

Needs a GPU, and xDSL to compile. Sizes that are multiples of 128 run examples/gemm_fp32.ph, others
gemm_fp32_any.ph. Checks and times as in gemm_compare.py; the label holds what was chosen. `--also` adds
calls with some names set, `--random` sizes whose extents are drawn evenly by logarithm, every other
one prime.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import phobos_nb as ph
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.cuda.peers import cublas_gemm, torch
from tests.gpu.gemm_compare import PEER, Arrays, Call, Size, compare

EXAMPLES = Path(__file__).parents[2] / "examples"
SQUARES = ("256", "512", "1024", "2048", "3072", "4096", "8192")
RAGGED = ("4095", "1000", "4097,4099,4093", "4100", "1023", "2049")
SKINNY = (
    *("1,4096,4096", "4096,1,4096", "1,8192,8192", "1,1,65536", "1,4095,4097", "4095,1,4097"),
    *("2,4096,4096", "8,4096,4096", "16,4096,4096", "4096,4,4096", "4096,16,4096"),
    *("4096,4096,64", "64,64,65536"),
)
EVEN = 128
LARGEST = 8192


def contenders(also: list[dict[str, int]], arrays: Arrays, size: Size) -> dict[str, Call]:
    """CuBLAS, torch where it is there, the untuned call, and calls with names set."""
    found: dict[str, Call] = {PEER: lambda alpha, beta: cublas_gemm(*arrays, alpha, beta)}
    if torch() is not None:
        found["torch.addmm"] = torch_addmm(arrays)
    for settings in ({}, *also):
        kernel = kernel_for(size, settings)
        started = time.perf_counter()
        kernel(*arrays, 1.0, 0.0)
        seconds = time.perf_counter() - started
        contract: Any = getattr(kernel.bind(*arrays, 1.0, 0.0), "contract")  # noqa: B009 - a BoundCall
        label = ", ".join(f"{n}={v}" for n, v in contract.constants.items())
        print(f"{size}: {label}; {contract.variant}; first call {seconds:.2f} s")
        name = f"{'phobos' if not settings else 'set'} {label}"
        found[name] = lambda alpha, beta, k=kernel: k.bind(*arrays, alpha, beta)
    return found


def torch_addmm(arrays: Arrays) -> Call:
    """C = alpha * A @ B + beta * C by torch, in f32 throughout."""
    a, b, c = (torch().from_dlpack(x) for x in arrays)

    def call(alpha: float, beta: float) -> Any:
        return lambda: torch().addmm(c, a, b, alpha=alpha, beta=beta, out=c)

    return call


def kernel_for(size: Size, settings: dict[str, int] | None = None) -> Kernel:
    """The example that suits a size."""
    even = all(n % EVEN == 0 for n in size)
    return ph.load(EXAMPLES / ("gemm_fp32.ph" if even else "gemm_fp32_any.ph"), **(settings or {}))[
        "gemm"
    ]


def random_sizes(count: int, least: int, seed: int = 5) -> list[str]:
    """Sizes with extents from `least` to `LARGEST`, those of every other one primes."""
    draw, spread = random.Random(seed), LARGEST / least
    sizes = [[round(least * spread ** draw.random()) for _ in "MNK"] for _ in range(count)]
    return [
        ",".join(str(next_prime(n) if number % 2 else n) for n in size)
        for number, size in enumerate(sizes)
    ]


def next_prime(n: int) -> int:
    """The least prime that is not below n, nor below 2."""
    return next(p for p in itertools.count(max(2, n)) if all(p % d for d in range(2, math.isqrt(p) + 1)))


def read_setting(text: str) -> tuple[str, int]:
    """A name and its value."""
    name, value = text.split("=")
    return name, int(value)


def main() -> int:
    """Run all sizes, write the rows, print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("results", type=Path)
    parser.add_argument("--sizes", nargs="*", default=[*SQUARES, *RAGGED, *SKINNY], help="N or M,N,K")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--also", nargs="+", default=[], help="NAME=VALUE,NAME=VALUE")
    parser.add_argument("--random", type=int, default=0, help="so many random sizes in addition")
    parser.add_argument("--least", type=int, default=1, help="the least extent of those")
    parsed = parser.parse_args()
    also = [dict(read_setting(x) for x in text.split(",")) for text in parsed.also]
    sizes = [*parsed.sizes, *random_sizes(parsed.random, parsed.least)]
    return compare(partial(contenders, also), sizes, parsed.rounds, parsed.results)


if __name__ == "__main__":
    sys.exit(main())
