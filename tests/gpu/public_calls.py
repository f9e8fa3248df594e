"""Every example called as users call it, with the compiler's own choices; results as JSON.

usage: python -m tests.gpu.public_calls RESULTS.json [--workers N]

`differential` runs single compiled kernels. This goes through `Kernel.__call__` on CuPy arrays: defaults
for the call's extents, the variant that its layouts need, and for examples with a dot the k loop split
among CTAs (SPLIT_K), which takes two launches. Judged against float64 and poisoned guard bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.cuda.driver import cupy
from phobos_nb.diagnostics import PhobosError
from phobos_nb.lower.choices import SPLIT
from tests.examples.case import Array, Shape
from tests.examples_cases import CASES, LAYOUTS, ExampleCase, copied, with_layout
from tests.gpu.circumstances import circumstances
from tests.gpu.placed import Placed

PARTS = (2, 3, 8)
LONG = (
    (64, 64, 8192),
    (1, 512, 4096),
    (512, 1, 4096),
    (33, 65, 4099),
    (128, 128, 2048),
    (300, 200, 1000),
)
"""M, N and K of products whose k loop is long beside the result: what is split by default."""


@dataclass(frozen=True)
class Job:
    """One example, the values that are fixed (the compiler chooses the rest), its shapes."""

    case: str
    fixed: tuple[tuple[str, int], ...]
    shapes: tuple[tuple[tuple[str, int], ...], ...]


def jobs() -> Iterator[Job]:
    """Each example with nothing fixed, and the products with every configuration split."""
    for case in CASES.values():
        shapes = case.shapes(case.configurations[0])
        if set(shapes[0]) == {"M", "N", "K"}:
            promised = case.refused(case.configurations[0])
            shapes = [*shapes, *(dict(zip("MNK", sizes, strict=True)) for sizes in LONG if not promised)]
            for constants in case.configurations:
                for parts in PARTS:
                    fixed = {**constants, SPLIT: parts}
                    yield Job(case.name, tuple(fixed.items()), _frozen(case.shapes(constants)))
        yield Job(case.name, _given(case), _frozen(shapes))


def _given(case: ExampleCase) -> tuple[tuple[str, int], ...]:
    """The constants that make the case what it is: all but those which the compiler may choose."""
    constants = case.configurations[0]
    chosen = case.load().typed(constants).space
    return tuple((n, v) for n, v in constants.items() if n not in chosen)


def _frozen(shapes: list[Shape]) -> tuple[tuple[tuple[str, int], ...], ...]:
    return tuple(tuple(shape.items()) for shape in shapes)


def run(job: Job) -> list[dict[str, Any]]:
    """Every shape in every layout."""
    case = CASES[job.case]
    kernel = case.load().specialize(**dict(job.fixed))
    return [_row(case, kernel, job, dict(shape), layout) for shape in job.shapes for layout in LAYOUTS]


def _row(case: ExampleCase, kernel: Kernel, job: Job, shape: Shape, layout: str) -> dict[str, Any]:
    values = case.arrays(shape, np.random.default_rng(len(layout)))
    row = {"case": case.name, "fixed": dict(job.fixed), "shape": dict(shape), "layout": layout}
    before = copied(values)
    try:
        after = _called(case, kernel, with_layout(values, layout))
    except PhobosError as error:
        known = error.diagnostics[0].code
        return {**row, "ok": False, "refused": known, "error": str(error)[:300]}
    except (AssertionError, RuntimeError, ValueError) as error:
        return {**row, "ok": False, "error": f"{type(error).__name__}: {str(error)[:300]}"}
    excess = case.excess(before, {**values, **after})
    launches = sorted({len(x.launches) for x in kernel._compilations.values()})  # pyright: ignore[reportPrivateUsage] - what was compiled is told nowhere else
    return {**row, "ok": max(excess.values()) <= 0, "excess": excess, "launches": launches}


def _called(case: ExampleCase, kernel: Kernel, values: dict[str, Any]) -> dict[str, Any]:
    """All arrays after one call; inputs must be unchanged."""
    module = cupy()
    arrays: dict[str, Array] = {n: v for n, v in values.items() if isinstance(v, np.ndarray)}
    placed = {n: Placed(v, module) for n, v in arrays.items()}
    call = {n: placed[n].array if n in placed else v for n, v in values.items()}
    grid = case.grid(case.configurations[0], values)
    kernel(*(call[p.name] for p in kernel.parameters), grid=grid)
    module.cuda.runtime.deviceSynchronize()
    found = {n: p.fetch() for n, p in placed.items()}
    for name, array in found.items():
        same = np.array_equal(array, values[name], equal_nan=array.dtype.kind == "f")
        assert name in case.outputs or same, f"{name} was written"
    return found


def main() -> int:
    """Run all, write the rows, print a line per example and every failure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("results", type=Path)
    parser.add_argument("--workers", type=int, default=12)
    parsed = parser.parse_args()
    start, rows = time.perf_counter(), list[dict[str, Any]]()
    with ProcessPoolExecutor(parsed.workers, mp_context=get_context("spawn")) as pool:
        for found in pool.map(run, jobs()):
            rows += found
    parsed.results.write_text(json.dumps({**circumstances(), "rows": rows}), "utf-8")
    return report(rows, time.perf_counter() - start)


def report(rows: list[dict[str, Any]], seconds: float) -> int:
    """Counts per example, split and not, then failures; 1 when there is any."""
    groups: dict[tuple[str, str], list[bool]] = {}
    for row in rows:
        kind = "split" if SPLIT in row["fixed"] else "defaults"
        groups.setdefault((row["case"], kind), []).append(row["ok"])
    for (case, kind), found in sorted(groups.items()):
        print(f"{case:24} {kind:9} {sum(found):5} of {len(found):5} right")
    failures = [row for row in rows if not row["ok"]]
    for row in failures[:40]:
        print("FAILED", json.dumps(row))
    print(f"{len(rows) - len(failures)} of {len(rows)} right in {seconds:.1f} s")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
