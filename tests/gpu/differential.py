"""Every stored kernel on the GPU against float64 and the NumPy meaning; results as JSON.

usage: python -m tests.gpu.differential FOLDER RESULTS.json [--subset N]

FOLDER is what `python -m tests.gpu.prepare FOLDER` wrote. Every array lies in a poisoned buffer
(`placed.py`): a NaN read from outside shows in the result, a byte written outside is found.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb import builtins
from phobos_nb.arguments.array import describe_numpy
from phobos_nb.arguments.variant import choose_variant, suits
from phobos_nb.cuda.driver import cupy
from phobos_nb.language.meaning import run as run_meaning
from phobos_nb.options import CompileOptions
from tests.examples.case import Grid, worst
from tests.examples_cases import CASES, LAYOUTS, ExampleCase, copied, with_layout
from tests.gpu.circumstances import circumstances
from tests.gpu.placed import Placed
from tests.gpu.stored import StoredKernel, load
from tests.gpu.upstream import launch as launch_upstream

Key = tuple[str, tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]


def seed_of(key: Key) -> int:
    """One seed per case and shape, the same in every process."""
    return sum(ord(c) * (i + 1) for i, c in enumerate(repr((key[0], key[2]))))


def arguments_of(key: Key) -> dict[str, Any]:
    """The inputs of one case and shape."""
    return CASES[key[0]].arrays(dict(key[2]), np.random.default_rng(seed_of(key)))


def meaning_of(key: Key) -> dict[str, Any]:
    """What the NumPy meaning gives for one case, constants and shape."""
    case, constants = CASES[key[0]], dict(key[1])
    typed = case.load(CompileOptions(constants=constants)).typed(constants)
    values = arguments_of(key)
    run_meaning(typed, values, case.grid(constants, values), builtins=builtins.table())
    return {name: values[name] for name in case.outputs}


@cache
def judged(key: Key) -> tuple[dict[str, Any], dict[str, Any]]:
    """The float64 answer and the bound."""
    case, before = CASES[key[0]], arguments_of(key)
    return case.reference(before), case.bound(before)


def keys(kernels: list[StoredKernel]) -> list[Key]:
    """Every case, constants and shape that some kernel is run on."""
    found = dict.fromkeys(key for kernel in kernels for key in keys_of(kernel))
    return list(found)


def keys_of(kernel: StoredKernel) -> Iterator[Key]:
    """The shapes of one kernel."""
    constants = {k: kernel.contract.constants[k] for k in _names(CASES[kernel.case])}
    for shape in CASES[kernel.case].shapes(constants):
        yield kernel.case, tuple(sorted(constants.items())), tuple(shape.items())


def _names(case: ExampleCase) -> list[str]:
    return list(case.configurations[0])


def layouts_for(kernel: StoredKernel, values: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The layouts that a call would use this variant for; for upstream's PTX all that it suits."""
    variant = kernel.contract.variant
    for layout in LAYOUTS:
        placed = with_layout(dict(values), layout)
        arrays = [describe_numpy(v) for v in placed.values() if isinstance(v, np.ndarray)]
        chosen = choose_variant(arrays, variant.index_bits) == variant
        if chosen or (kernel.kind == "upstream" and suits(variant, arrays)):
            yield layout, placed


def run_one(
    kernel: StoredKernel, key: Key, layout: str, values: Mapping[str, Any], meaning: Any
) -> dict[str, Any]:
    """Launch once and judge."""
    case = CASES[key[0]]
    row = {
        "case": case.name, "kind": kernel.kind, "target": kernel.contract.target,
        "constants": dict(key[1]), "shape": dict(key[2]), "layout": layout,
        "unit_stride": kernel.contract.variant.unit_stride, "aligned": kernel.contract.variant.aligned,
        "index_bits": kernel.contract.variant.index_bits,
    }  # fmt: skip
    try:
        outputs = launched(kernel, values, case.grid(dict(key[1]), arguments_of(key)))
    except (AssertionError, RuntimeError, ValueError) as error:
        return {**row, "ok": False, "error": str(error)[:500]}
    after = {**values, **outputs}
    excess = case.excess(copied(arguments_of(key)), after)
    gap = {n: gap_to(outputs[n], meaning[n], judged(key)[1][n]) for n in case.outputs}
    ok = max(excess.values()) <= 0 and max(gap.values()) <= 0
    return {**row, "ok": ok, "excess": excess, "meaning_gap": gap}


def gap_to(found: Any, meaning: Any, bound: Any) -> float:
    """Largest |GPU - meaning| over twice the bound; not above zero where both keep it."""
    return worst(found, meaning.astype(np.float64), 2 * bound)


def launched(kernel: StoredKernel, values: Mapping[str, Any], grid: Grid | None) -> dict[str, Any]:
    """Outputs of one launch on arrays placed in poisoned buffers; inputs must be unchanged."""
    module = cupy()
    placed = {n: Placed(v, module) for n, v in values.items() if isinstance(v, np.ndarray)}
    call = {n: placed[n].array if n in placed else v for n, v in values.items()}
    if kernel.kind == "upstream":
        _launch_upstream(kernel, call)
    else:
        kernel.dispatcher([call[p.name] for p in kernel.contract.parameters], grid)
        module.cuda.runtime.deviceSynchronize()
    found = {n: p.fetch() for n, p in placed.items()}
    written = {t.name for t in kernel.contract.tensors if t.writes}
    for name, array in found.items():
        assert name in written or np.array_equal(array, values[name], equal_nan=True), (
            f"{name} was written"
        )
    return {n: found[n] for n in written}


def _launch_upstream(kernel: StoredKernel, call: Mapping[str, Any]) -> None:
    contract = kernel.contract
    extents = {
        d: n for t in contract.tensors for d, n in zip(t.dims, call[t.name].shape, strict=True)
        if isinstance(d, str)
    }  # fmt: skip
    arrays = {t.name: call[t.name] for t in contract.tensors}
    scalars = {n: v for n, v in call.items() if n not in arrays}
    grid = contract.grid.shape(extents)
    launch_upstream(kernel.code.read_bytes(), contract, arrays, extents, scalars, grid)


def refusals(kernels: list[StoredKernel]) -> Iterator[dict[str, Any]]:
    """Every shape that breaks an `@aligned` promise must raise before the GPU is touched."""
    for kernel in kernels:
        case = CASES[kernel.case]
        constants = {k: kernel.contract.constants[k] for k in _names(case)}
        for shape in [] if kernel.kind == "upstream" else case.refused(constants):
            values = case.arrays(shape, np.random.default_rng(0))
            try:
                launched(kernel, values, None)
                ok = False
            except ValueError:
                ok = True
            yield {
                "case": case.name, "kind": kernel.kind, "target": kernel.contract.target, "ok": ok,
                "constants": constants, "shape": dict(shape), "layout": "refused",
            }  # fmt: skip


def main() -> int:
    """Run all, write the rows, print a table of counts and every failure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--subset", type=int, default=1, help="every n-th kernel only")
    parser.add_argument("--workers", type=int, default=12)
    parsed = parser.parse_args()
    kernels = load(parsed.folder)[:: parsed.subset]
    start = time.perf_counter()
    wanted = keys(kernels)
    with ProcessPoolExecutor(parsed.workers) as pool:
        meanings = dict(zip(wanted, pool.map(meaning_of, wanted, chunksize=4), strict=True))
    print(f"meaning of {len(wanted)} calls: {time.perf_counter() - start:.1f} s", flush=True)
    rows = list(refusals(kernels))
    for kernel in kernels:
        for key in keys_of(kernel):
            for layout, values in layouts_for(kernel, arguments_of(key)):
                rows.append(run_one(kernel, key, layout, values, meanings[key]))
    parsed.results.write_text(json.dumps({**circumstances(), "rows": rows}), "utf-8")
    return report(rows, time.perf_counter() - start)


def report(rows: list[dict[str, Any]], seconds: float) -> int:
    """Counts per case, kind and target, then failures; 1 when there is any."""
    groups: dict[tuple[str, str, str], list[bool]] = {}
    for row in rows:
        groups.setdefault((row["case"], row["kind"], row["target"]), []).append(row["ok"])
    for (case, kind, target), found in sorted(groups.items()):
        print(f"{case:22} {kind:9} {target:7} {sum(found):5} of {len(found):5} right")
    failures = [row for row in rows if not row["ok"]]
    for row in failures[:40]:
        print("FAILED", json.dumps(row))
    print(f"{len(rows) - len(failures)} of {len(rows)} right in {seconds:.1f} s")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
