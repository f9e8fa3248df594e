"""Products of random ragged sizes under random choices on the GPU, against float64; JSON.

usage: python -m tests.gpu.gemm_ragged RESULTS.json [--count N] [--seed N] [--workers N] [--dry]

Half of the cases are examples/gemm_fp32_any.ph with drawn tiles, groups of warps, parts, stages and thin
edges; half are loops that do more with products: turned operands, differences, scaled and chained ones.
Outputs that the kernel does not read are 1e30 before. Each case runs twice and must give the same bits.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.variant import choose_variant
from phobos_nb.cuda.driver import cupy, describe_gpus
from phobos_nb.options import CompileOptions
from phobos_nb.source import Source
from phobos_nb.target import get
from phobos_nb.tune.compile_job import CompileJob, KernelText, compile_job
from phobos_nb.tune.outcome import Failed
from tests.gpu.gemm_compare import UNWRITTEN, sound
from tests.gpu.gemm_default import EXAMPLES, next_prime
from tests.gpu.gemm_search import CHIP

SUMS = """
@autotune(TILE_M in [16, 128], TILE_N in [16, 128], TILE_K in [4, 32])
@launch(256)
kernel gemm(A: tensor<f32>[A0, A1], B: tensor<f32>[B0, B1], C: tensor<f32>[M, N], s: f32, t: f32) {
  let i = ctx.block.x * TILE_M
  let j = ctx.block.y * TILE_N
  var acc: tile<f32>[TILE_M, TILE_N] = 0.0
  for k in range(0, K, TILE_K) {
    let a = LEFT
    let b = RIGHT
    STATEMENT
  }
  C[i :+ TILE_M, j :+ TILE_N] = s * acc + t * C[i :+ TILE_M, j :+ TILE_N]
}
"""
STATEMENTS = {
    "acc += dot(a, b)": 1.0,
    "acc -= dot(a, b)": -1.0,
    "acc += 2.0 * dot(a, b)": 2.0,
    "acc += dot(a, b)\n    acc += dot(a, b)": 2.0,
    "acc += dot(a, b)\n    acc -= 0.5 * dot(a, b)": 0.5,
}
"""What stands in the loop, and by how much the product is multiplied."""


@dataclass(frozen=True)
class Case:
    """A kernel: its text, the choices, M, N and K, operands that lie turned, the factor of the sum."""

    text: str
    constants: dict[str, int]
    size: tuple[int, int, int]
    turned: tuple[bool, bool] = (False, False)
    factor: float = 1.0

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Of the arrays as they lie."""
        m, n, k = self.size
        left, right = self.turned
        return {"A": (k, m) if left else (m, k), "B": (n, k) if right else (k, n), "C": (m, n)}


def draw(seed: int, count: int) -> list[Case]:
    """So many cases, every other one of each kind."""
    rng = random.Random(seed)
    return [_sum(rng) if number % 2 else _gemm(rng) for number in range(count)]


def _gemm(rng: random.Random) -> Case:
    constants = _choices(rng) | rng.choice(
        [{}, {"EDGE_X": 8, "EDGE_Y": 8}, {"SPLIT_K": rng.randint(2, 9)}]
    )
    return Case((EXAMPLES / "gemm_fp32_any.ph").read_text("utf-8"), constants, _size(rng))


def _sum(rng: random.Random) -> Case:
    statement, factor = rng.choice(list(STATEMENTS.items()))
    left, right = rng.random() < 0.5, rng.random() < 0.5
    a, b = "A[i :+ TILE_M, k :+ TILE_K]", "B[k :+ TILE_K, j :+ TILE_N]"
    a = "transpose(A[k :+ TILE_K, i :+ TILE_M])" if left else a
    b = "transpose(B[j :+ TILE_N, k :+ TILE_K])" if right else b
    text = SUMS.replace("LEFT", a).replace("RIGHT", b).replace("STATEMENT", statement)
    text = text.replace("A0, A1", "K, M" if left else "M, K").replace(
        "B0, B1", "N, K" if right else "K, N"
    )
    constants = _choices(rng, most=64)
    return Case(text, constants, _size(rng), (left, right), factor)


def _choices(rng: random.Random, most: int = 256) -> dict[str, int]:
    sides = [n for n in (32, 64, 128, 256) if n <= most]
    m = rng.choice(sides)
    n = rng.choice([n for n in sides if m * n <= 128 * 256])
    found = {"TILE_M": m, "TILE_N": n, "TILE_K": rng.choice([8, 16, 32])}
    found["K_GROUPS"] = rng.choice([g for g in (1, 2, 4, 8) if m * n * g <= 128 * 256])
    return found | ({"STAGES": rng.randint(2, 4)} if rng.random() < 0.3 else {})


def _size(rng: random.Random) -> tuple[int, int, int]:
    m, n, k = (max(1, round(1500 ** rng.random())) for _ in "MNK")
    if rng.random() < 0.3:
        return next_prime(m), next_prime(n), next_prime(k)
    return (4 * m, 4 * n, 4 * k) if rng.random() < 0.4 else (m, n, k)


def job(case: Case) -> CompileJob:
    """What a worker compiles."""
    arrays = {
        name: ArrayDescription("f32", shape, (4 * shape[1], 4), 0, 4)
        for name, shape in case.shapes.items()
    }
    variant = choose_variant(arrays, get(CHIP).default_index_bits)
    text = KernelText(Source(case.text, "case.ph"), "gemm", CompileOptions(CHIP))
    return CompileJob(text, variant, case.constants)


def run(case: Case, compiled: Any) -> str:
    """What is wrong with a case's results; empty where nothing is."""
    from phobos_nb.tune.device_bench import bound

    module = cupy()
    rng = module.random.default_rng(sum(case.size))
    a, b, old = (rng.standard_normal(s, dtype=module.float32) for s in case.shapes.values())
    c = module.empty_like(old)
    wide = [x.astype(module.float64).T if t else x for x, t in zip((a, b), case.turned, strict=True)]
    product = case.factor * (wide[0].astype(module.float64) @ wide[1])
    scale = float(module.linalg.norm(product)) / max(0.5, abs(case.factor)) + 1e-30
    seen: list[Any] = []
    for s, t, start in ((1.0, 0.0, UNWRITTEN), (0.5, 2.0, old), (0.5, 2.0, old)):
        c[...] = start
        bound(compiled, [a, b, c, s, t], None)()
        error = float(module.linalg.norm(c - (s * product + t * old))) / scale
        if not error <= 4 * sound(case.size[2]):
            return f"error {error:.1e}"
        seen.append(c.copy())
    return "" if bool((seen[1] == seen[2]).all()) else "two runs differ"


def main() -> int:
    """Compile all, run all, say what was wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("results", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--dry", action="store_true", help="only compile")
    parsed = parser.parse_args()
    cases = draw(parsed.seed, parsed.count)
    with ProcessPoolExecutor(parsed.workers, get_context("spawn")) as pool:
        made = list(pool.map(compile_job, map(job, cases)))
    wrong: list[str] = []
    for case, compiled in zip(cases, made, strict=True):
        failed = compiled.reason[:200] if isinstance(compiled, Failed) else ""
        problem = failed or ("" if parsed.dry else run(case, compiled))
        if problem:
            statement = next((s for s in STATEMENTS if s in case.text), "")
            wrong.append(f"{case.size} {case.constants} {case.turned} {statement!r}: {problem}")
            print(wrong[-1])
    print(f"{len(cases) - len(wrong)} of {len(cases)} right")
    if not parsed.dry:
        found = {"gpu": describe_gpus(), "cases": len(cases), "wrong": wrong}
        parsed.results.write_text(json.dumps(found), "utf-8")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
