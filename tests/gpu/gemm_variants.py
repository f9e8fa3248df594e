"""Compile many variants of the f32 GEMM for the GPU machine: code and contracts into one folder.

usage: python -m tests.gpu.gemm_variants FOLDER [--sets NAME ...] [--workers N]

A set is a list of (example, aligned, constants); gemm_compare.py checks and times what is compiled here.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from phobos_nb.compilation.module import load_with
from phobos_nb.contract import Variant
from phobos_nb.language.aliasing import in_place_pairs
from phobos_nb.options import CompileOptions
from tests.gpu.stored import StoredKernel, save

EXAMPLES = Path(__file__).parents[2] / "examples"
Constants = Mapping[str, int]
Job = tuple[str, bool, Constants]


def tile(m: int, n: int, k: int) -> dict[str, int]:
    """The constants of one CTA tile."""
    return {"TILE_M": m, "TILE_N": n, "TILE_K": k}


def every(base: Constants, **choices: Iterable[int]) -> list[Constants]:
    """All combinations of choices, each with the constants of `base`."""
    names = list(choices)
    combinations = itertools.product(*choices.values())
    return [{**base, **dict(zip(names, values, strict=True))} for values in combinations]


LARGE, SMALL, SQUARE = tile(128, 256, 8), tile(64, 128, 8), tile(128, 128, 8)
UNLISTED = (tile(64, 256, 8), tile(256, 128, 8), tile(64, 64, 8), tile(32, 128, 8), tile(128, 64, 8))

SETS: dict[str, list[Job]] = {
    "forms": [
        ("gemm_fp32", True, c)
        for c in (
            *every(LARGE, STAGES=[3, 4], ADDRESS=[0, 1], GUARD=[0, 1, 2], RING=[0, 1]),
            *every(SMALL, STAGES=[4], SLICES=[1, 4], ADDRESS=[0, 1], GUARD=[0, 1], RING=[0, 1]),
            *every(SMALL, STAGES=[3], SLICES=[1, 3, 6]),
            *every(SQUARE, STAGES=[4], SLICES=[1, 4], ADDRESS=[0], GUARD=[0, 1], RING=[0, 1]),
        )
    ],
    "choices": [
        ("gemm_fp32", True, c)
        for c in (
            *every(LARGE, GROUP=[0, 4, 16]),
            *every(LARGE, ORDER=[1, 2]),
            *every(LARGE, SLICES=[2, 3]),
            *every(SMALL, STAGES=[4], SLICES=[4], MIN_BLOCKS=[2, 4]),
            *every(SMALL, STAGES=[4], SLICES=[4], GROUP=[0]),
            *every(tile(128, 256, 16), STAGES=[3]),
            *(c for t in UNLISTED for c in every(t, STAGES=[4], SLICES=[1, 4])),
        )
    ],
    "space": [
        ("gemm_fp32", True, tile(m, n, k))
        for m, n, k in itertools.product((32, 64, 128, 256), (32, 64, 128, 256), (4, 8, 16, 32))
        if (m, n) != (256, 256)
    ],
    "masked": [
        ("gemm_fp32_any", aligned, c)
        for aligned in (True, False)
        for c in (
            *every(LARGE, STAGES=[3], SLICES=[1, 2], ADDRESS=[0, 1], GUARD=[0, 2]),
            *every(SMALL, STAGES=[4], SLICES=[1, 4], ADDRESS=[0, 1], GUARD=[0, 1]),
            *every(SQUARE, STAGES=[4], SLICES=[1, 4], ADDRESS=[0, 1], GUARD=[0, 2]),
        )
    ],
    "resident": [
        ("gemm_fp32_any", aligned, c)
        for aligned in (True, False)
        for c in every(SMALL, STAGES=[4], SLICES=[1, 4], GUARD=[0, 1], MIN_BLOCKS=[2])
    ],
    "any": [
        ("gemm_fp32_any", aligned, c)
        for aligned in (True, False)
        for c in (
            *every(LARGE, STAGES=[3, 4], GUARD=[0, 1, 2]),
            *every(SMALL, STAGES=[4], GUARD=[0, 1, 2]),
        )
    ],
}


def compiled(job: Job) -> tuple[StoredKernel, bytes, str] | str:
    """Compile one job, or say what went wrong; with a line on what it takes."""
    example, aligned, constants = job
    label = label_of(example, aligned, constants)
    try:
        kernel = load_with(EXAMPLES / f"{example}.ph", CompileOptions("sm_90a"))["gemm"]
        made = kernel.compile_variant(Variant(aligned=aligned), **constants)
        pairs = in_place_pairs(made.typed)
        stored = StoredKernel(example, "cubin", made.contract, Path(f"{label}.cubin"), pairs)
        taken = made.resources
        line = f"{label:70} {taken.registers:3} registers {made.contract.shared_bytes:6} B"
        return stored, made.cubin, f"{line} {taken.spill_stores} spilled"
    except Exception as error:  # one kernel's failure must not lose the others
        return f"{label}: {type(error).__name__}: {str(error)[:400]}"


def label_of(example: str, aligned: bool, constants: Constants) -> str:
    """A name for files and tables."""
    size = "x".join(str(constants[n]) for n in ("TILE_M", "TILE_N", "TILE_K"))
    rest = [f"{n}{v}" for n, v in constants.items() if not n.startswith("TILE_")]
    return "-".join([example, "" if aligned else "unaligned", size, *rest]).replace("--", "-")


def main() -> int:
    """Compile the wanted sets and write the folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--workers", type=int, default=2)
    parsed = parser.parse_args()
    jobs = [job for name in parsed.sets for job in SETS[name]]
    with ProcessPoolExecutor(parsed.workers) as pool:
        results = list(pool.map(compiled, jobs, chunksize=2))
    failures = [r for r in results if isinstance(r, str)]
    good = [r for r in results if not isinstance(r, str)]
    print("\n".join([*(line for _, _, line in good), *failures]))
    count = save(parsed.folder, ((kernel, code) for kernel, code, _ in good))
    print(f"{count} kernels in {parsed.folder}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
