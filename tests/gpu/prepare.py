"""Compile every example for the GPU machine: code and contracts into one folder.

usage: python -m tests.gpu.prepare FOLDER [--cases NAME ...] [--kinds KIND ...] [--workers N]

For each case and configuration: three variants (aligned, unaligned, any strides), each as cubin for
sm_90a and as PTX for sm_80 and sm_75; for saxpy_fp32, gemm_fp32_any and softmax also PTX by upstream's
own pipeline, which needs mlir-opt-22.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from phobos_nb.compilation.compilation import Compilation
from phobos_nb.contract import Variant
from phobos_nb.ir.upstream import to_ptx
from phobos_nb.language.aliasing import in_place_pairs
from phobos_nb.options import CompileOptions
from phobos_nb.target import get
from tests.examples_cases import CASES
from tests.gpu.stored import StoredKernel, save

TARGETS = (("sm_90a", "cubin"), ("sm_80", "ptx"), ("sm_75", "ptx"))
VARIANTS = ((True, True), (True, False), (False, False))
UPSTREAM = ("saxpy_fp32", "gemm_fp32_any", "softmax")

KINDS = ("cubin", "ptx", "upstream")

Job = tuple[str, int, str, str, tuple[bool, bool]]
"""Case, number of the configuration, target, kind, (unit stride, aligned)."""


def jobs(names: list[str]) -> Iterator[Job]:
    """Everything to compile."""
    for name in names:
        for number in range(len(CASES[name].configurations)):
            for target, kind in TARGETS:
                yield from ((name, number, target, kind, variant) for variant in VARIANTS)
            if name in UPSTREAM:
                yield name, number, "sm_90a", "upstream", VARIANTS[2]
                yield name, number, "sm_90a", "upstream", VARIANTS[1]


def attempt(job: Job) -> tuple[StoredKernel, bytes] | str:
    """Compile one job, or say what went wrong."""
    try:
        return compiled(job)
    except Exception as error:  # one kernel's failure must not lose the others
        return f"{job}: {type(error).__name__}: {str(error)[:400]}"


def compiled(job: Job) -> tuple[StoredKernel, bytes]:
    """Compile one job."""
    name, number, target, kind, (unit_stride, aligned) = job
    case = CASES[name]
    constants = dict(case.configurations[number])
    kernel = case.load(CompileOptions(target))
    variant = Variant(unit_stride, aligned, get(target).default_index_bits)
    compilation = kernel.compile_variant(variant, **constants)
    code = {"cubin": cubin, "ptx": ptx, "upstream": upstream}[kind](compilation)
    stem = "-".join([name, str(number), target, kind, f"{unit_stride:d}{aligned:d}"])
    suffix = "cubin" if kind == "cubin" else "ptx"
    contract = compilation.contract
    if kind == "upstream":
        contract = replace(contract, dynamic_shared=False)
    pairs = in_place_pairs(compilation.typed)
    return StoredKernel(name, kind, contract, Path(f"{stem}.{suffix}"), pairs), code


def cubin(compilation: Compilation) -> bytes:
    """Our machine code."""
    return compilation.cubin


def ptx(compilation: Compilation) -> bytes:
    """Our PTX."""
    return compilation.ptx.encode()


def upstream(compilation: Compilation) -> bytes:
    """PTX of upstream's pipeline for the same thread-level module."""
    return to_ptx(compilation.thread_module, compilation.configuration.target).encode()


def main() -> int:
    """Compile all and write the folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--workers", type=int, default=2)
    parsed = parser.parse_args()
    wanted = [job for job in jobs(parsed.cases) if job[3] in parsed.kinds]
    with ProcessPoolExecutor(parsed.workers) as pool:
        results = list(pool.map(attempt, wanted, chunksize=3))
    failures = [r for r in results if isinstance(r, str)]
    count = save(parsed.folder, (r for r in results if not isinstance(r, str)))
    print("\n".join(failures))
    size = sum(f.stat().st_size for f in parsed.folder.iterdir())
    print(f"{count} kernels, {size / 2**20:.1f} MiB in {parsed.folder}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
