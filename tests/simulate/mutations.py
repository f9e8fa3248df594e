"""Synchronisation deleted and restored, one at a time, in the compiled examples.

A kept barrier or wait that can be deleted without a report is not needed, or no shape here exercises
it; an elided barrier put back must change nothing.

usage: python -m tests.simulate.mutations OUT.txt [--cases NAME ...] [--chips CHIP ...] [--workers N]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from phobos_nb.compilation.compilation import Compilation
from phobos_nb.ir.locations import place_of
from phobos_nb.lower import pipeline
from phobos_nb.lower.insert_barriers import insert_barriers
from phobos_nb.lower.meetings import Meeting
from phobos_nb.options import CompileOptions
from phobos_nb.simulate.launch import simulate
from phobos_nb.simulate.records import SimulationResult
from tests.examples.case import ExampleCase, Shape
from tests.examples_cases import CASES
from tests.provenance import made_by

CHIPS = ("sm_75", "sm_80", "sm_90a")
DEPTHS = (13, 14, 15, 16)
"""Multiples of a GEMM's first K, so that every remainder of an unrolled loop is taken."""
WAITS = ("gpu.barrier", "nvvm.bar.warp.sync", "nvgpu.device_async_wait")
Run = Callable[..., Iterator[SimulationResult]]


@dataclass
class Report:
    """What one example's mutants gave on one target.

    noticed: deleted operations that were reported, with what was said first; unnoticed: the others;
    restored: elided barriers that were put back; changed: those that changed a result.
    """

    case: str
    chip: str
    clean: bool = True
    noticed: list[str] = field(default_factory=list[str])
    unnoticed: list[str] = field(default_factory=list[str])
    restored: int = 0
    changed: bool = False

    @property
    def good(self) -> bool:
        """Whether all is as it must be."""
        return self.clean and not self.unnoticed and not self.changed


def shapes_of(case: ExampleCase) -> list[Shape]:
    """Three times the first shape, a GEMM in several depths; without tiles the first three shapes."""
    constants = case.configurations[0]
    first = case.shapes(constants)[0]
    if not constants or case.grid(constants, case.arrays(first, np.random.default_rng(1))):
        return [s for s in case.shapes(constants) if 0 not in s.values()][:3]
    shape = {n: extent if n in constants else 3 * extent for n, extent in first.items()}
    return [{**shape, "K": d * first["K"]} for d in DEPTHS] if "K" in first else [shape]


def compiled(case: ExampleCase, chip: str) -> tuple[Compilation, Run]:
    """The compiled example, and a function that runs a mutant of it on every shape."""
    constants = dict(case.configurations[0])
    launches = [case.arrays(s, np.random.default_rng(1)) for s in shapes_of(case)]
    kernel = case.load(CompileOptions(chip)).specialize(**constants)
    compilation = kernel.for_call(tuple(launches[0].values()), {}).compile()

    def run(module: ModuleOp, **options: Any) -> Iterator[SimulationResult]:
        for arguments in launches:
            grid = case.grid(constants, arguments)
            yield simulate(module, compilation.contract, arguments, grid=grid, banks=False, **options)

    return compilation, run


def waits(module: ModuleOp) -> list[Operation]:
    """What orders threads or copies, in program order."""
    return [op for op in module.walk() if op.name in WAITS or "fence" in op.name]


def reported(run: Run, module: ModuleOp) -> str:
    """The first race or fault on any shape, with warps in step or not; empty if there is none."""
    for seed in (0, 3):
        for result in run(module, stop_at_first=True, seed=seed):
            if result.races:
                return f"{result.races[0].kind}, {result.races[0].second}"
            if result.faults:
                return f"{result.faults[0].kind}, {result.faults[0].place}"
    return ""


@contextmanager
def elided_restored() -> Generator[None]:
    """While it is open, the compiler inserts the barriers that it would leave out."""
    before = pipeline.insert_barriers
    pipeline.insert_barriers = partial(insert_barriers, needed=frozenset(Meeting))
    try:
        yield
    finally:
        pipeline.insert_barriers = before


def mutate(name: str, chip: str) -> Report:
    """All mutants of one example."""
    case, report = CASES[name], Report(name, chip)
    compilation, run = compiled(case, chip)
    module = compilation.thread_module
    whole = list(run(module))
    report.clean = all(result.clean for result in whole)
    for number, op in enumerate(waits(module)):
        mutant = module.clone()
        waits(mutant)[number].detach()
        place, said = place_of(op), reported(run, mutant)
        told = f"{op.name} at line {place.line if place else 0}"
        (report.noticed if said else report.unnoticed).append(f"{told}: {said}" if said else told)
    with elided_restored():
        again, run_again = compiled(case, chip)
        restored = list(run_again(again.thread_module))
    report.restored = sum(not barrier.kept for barrier in compilation.barriers)
    report.changed = any(not same(a, b) for a, b in zip(whole, restored, strict=True))
    return report


def same(a: SimulationResult, b: SimulationResult) -> bool:
    """Whether two runs left the same bits and are clean."""
    return b.clean and all(a.outputs[n].tobytes() == b.outputs[n].tobytes() for n in a.outputs)


def lines(report: Report) -> Iterator[str]:
    """The report as text."""
    total = len(report.noticed) + len(report.unnoticed)
    yield (
        f"{report.case:24} {report.chip:7} {'clean' if report.clean else 'NOT CLEAN':9} "
        f"{len(report.noticed)} of {total} deleted reported, {report.restored} elided restored"
        f"{', RESULTS CHANGED' if report.changed else ''}"
    )
    yield from (f"    {told}" for told in report.noticed)
    yield from (f"    NOT EXERCISED {told}" for told in report.unnoticed)


def main() -> int:
    """Write the reports."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--workers", type=int, default=2)
    parsed = parser.parse_args()
    pairs = [(name, chip) for name in parsed.cases for chip in parsed.chips]
    with ProcessPoolExecutor(parsed.workers) as pool:
        reports = list(pool.map(mutate, *zip(*pairs, strict=True)))
    good = sum(report.good for report in reports)
    text = [line for report in reports for line in lines(report)]
    text.append(f"{good} of {len(reports)} examples and targets as they must be")
    head = made_by("tests.simulate.mutations")
    parsed.out.write_text("\n".join([head, *text]) + "\n", "utf-8")
    sys.stdout.write(f"{text[-1]}\n")
    return int(good < len(reports))


if __name__ == "__main__":
    sys.exit(main())
