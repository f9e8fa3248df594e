"""The barriers of generated programs: each one deleted, each elided one restored, fewer ones sought.

A program and a target are as they must be where the kernel is clean in every order of warps, each wait
or barrier that is deleted is reported on some launch, the elided barriers put back change nothing, and
no two barriers can be replaced by one, nor one by one in fewer loops.

usage: python -m tests.fuzz.barriers OUT.txt [--count N] [--seed S] [--chips CHIP ...] [--workers N]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from phobos_nb.arguments.array import describe_numpy
from phobos_nb.arguments.variant import choose_variant
from phobos_nb.compilation.compilation import Compilation
from phobos_nb.compilation.module import module_of
from phobos_nb.ir.dialects.gpu import REASON
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.locations import place_of
from phobos_nb.lower import insert_barriers, pipeline
from phobos_nb.lower.conflicts import Conflicts
from phobos_nb.lower.distances import loops_around
from phobos_nb.lower.meetings import Meeting
from phobos_nb.options import CompileOptions
from phobos_nb.simulate.launch import simulate
from phobos_nb.simulate.records import SimulationResult
from phobos_nb.source import Source
from tests.fuzz.sharing import Launch, SharingProgram, sharing_program
from tests.provenance import made_by
from tests.simulate.mutations import CHIPS, elided_restored, same, waits

ORDERS = (0, 3)
"""Seeds of the order of warps; 0 runs them in step."""

AUTHORS = StringAttr("barrier() in the source")
"""The reason of a barrier that the author wrote, perhaps one too many."""


@dataclass
class Outcome:
    """What the mutants of one program on one target gave.

    problems: what is not as it must be. kept, deleted: synchronisations in the code, and those of which
    the deletion was reported. elided: barriers found not to be needed. reasons: sentences without names
    and numbers.
    """

    seed: int
    chip: str
    problems: list[str] = field(default_factory=list[str])
    kept: int = 0
    deleted: int = 0
    elided: int = 0
    reasons: Counter[str] = field(default_factory=Counter[str])


def examine(seed: int, chip: str) -> Outcome:
    """All mutants of one program."""
    program, outcome = sharing_program(seed), Outcome(seed, chip)
    with fewer_sought(outcome.problems):
        compilation = compiled(program, chip)
        module = compilation.thread_module
    whole = [list(run(program, compilation, module, program.launches, order)) for order in ORDERS]
    if not all(result.clean for results in whole for result in results):
        outcome.problems.append(f"not clean: {first_finding(r for results in whole for r in results)}")
    if not all(same(a, b) for results in whole for a, b in zip(whole[0], results, strict=True)):
        outcome.problems.append("the order of warps changes results")
    delete_each(program, compilation, outcome)
    with elided_restored():
        again = compiled(program, chip)
        restored = list(run(program, again, again.thread_module, program.launches))
    if not all(same(a, b) for a, b in zip(whole[0], restored, strict=True)):
        outcome.problems.append("elided barriers that are put back change results")
    outcome.elided = sum(not b.kept for b in compilation.barriers)
    return outcome


def compiled(program: SharingProgram, chip: str) -> Compilation:
    """The kernel compiled for a variant that suits every launch."""
    kernel = module_of(Source(program.text, "sharing.ph"), CompileOptions(chip))["k"]
    launches = [v for launch in program.launches for v in launch.values()]
    arrays = [describe_numpy(v) for v in launches if isinstance(v, np.ndarray)]
    return kernel.compile_variant(choose_variant(arrays, 64))


def run(
    program: SharingProgram,
    compilation: Compilation,
    module: ModuleOp,
    launches: Iterable[Launch],
    order: int = 0,
    **options: Any,
) -> Iterator[SimulationResult]:
    """A module on some launches."""
    contract, grid = compilation.contract, program.grid
    for launch in launches:
        yield simulate(module, contract, launch, grid=grid, banks=False, seed=order, **options)


def delete_each(program: SharingProgram, compilation: Compilation, outcome: Outcome) -> None:
    """Delete one synchronisation after the other and see what is said."""
    module = compilation.thread_module
    for number, op in enumerate(waits(module)):
        if op.attributes.get(REASON) == AUTHORS:
            continue
        mutant = module.clone()
        waits(mutant)[number].detach()
        outcome.kept += 1
        if first_finding(runs(program, compilation, mutant)):
            outcome.deleted += 1
        else:
            place = place_of(op)
            why = op.attributes.get(REASON, "")
            outcome.problems.append(f"{op.name} at line {place.line if place else 0} unnoticed: {why}")


def runs(
    program: SharingProgram, compilation: Compilation, mutant: ModuleOp
) -> Iterator[SimulationResult]:
    """A mutant on every launch in every order, then on launches with other scalars."""
    for order in ORDERS:
        yield from run(program, compilation, mutant, program.launches, order, stop_at_first=True)
    yield from run(program, compilation, mutant, program.more(), stop_at_first=True)


def first_finding(results: Iterable[SimulationResult]) -> str:
    """The first race or fault; empty if there is none."""
    for result in results:
        if result.races or result.faults:
            return str([*result.races, *result.faults][0])
    return ""


# Fewer -------------------------------------------------------------------------------------------


@contextmanager
def fewer_sought(found: list[str]) -> Generator[None]:
    """While it is open, what could be done with fewer barriers than the compiler puts is noted."""
    before = pipeline.insert_barriers

    def sought(kernel: KernelOp, drop: int | None = None) -> Any:
        found.extend(fewer(kernel))
        return before(kernel, drop)

    pipeline.insert_barriers = sought
    try:
        yield
    finally:
        pipeline.insert_barriers = before


def fewer(kernel: KernelOp) -> Iterator[str]:
    """Two barriers that one can stand for, and single ones that one in fewer loops can stand for."""
    conflicts = Conflicts(kernel)
    of_cta = insert_barriers.Placement(kernel, conflicts, insert_barriers.NEEDED)
    whole = of_cta.choose()
    of_warp = insert_barriers.Placement(kernel, conflicts, {Meeting.WARP}, whole)
    places = [op for op in kernel.body.walk() if of_cta.may_stand_before(op)]
    for placement, chosen in ((of_cta, whole), (of_warp, of_warp.choose())):
        for number in (1, 2):
            for taken in combinations(chosen, number):
                yield from _instead_of(taken, chosen, places, placement)


def _instead_of(
    taken: tuple[Operation, ...],
    chosen: list[Operation],
    places: list[Operation],
    placement: insert_barriers.Placement,
) -> Iterator[str]:
    """A place at which one barrier does what one in more loops or two in as many do."""
    rest = [p for p in chosen if p not in taken]
    depth = max(len(loops_around(p)) for p in taken) - (len(taken) == 1)
    for place in places:
        if len(loops_around(place)) <= depth and placement.enough([*rest, place]):
            yield f"{' and '.join(map(_at, taken))}: one barrier at {_at(place)} would do"
            return


def _at(op: Operation) -> str:
    place = place_of(op)
    return f"{op.name} (line {place.line if place else 0})"


# Many --------------------------------------------------------------------------------------------


def lines(outcomes: list[Outcome], chips: Iterable[str]) -> Iterator[str]:
    """The results as text: the sums, and every program that is not as it must be."""
    for chip in chips:
        own = [o for o in outcomes if o.chip == chip]
        yield (
            f"{chip:7} {len(own)} programs, {sum(o.deleted for o in own)} of {sum(o.kept for o in own)} "
            f"deleted synchronisations reported, {sum(o.elided for o in own)} elided ones restored, "
            f"{sum(not o.problems for o in own)} programs as they must be"
        )
    for outcome in outcomes:
        yield from (f"    seed {outcome.seed} {outcome.chip}: {p}" for p in outcome.problems)


def attempt(seed: int, chip: str) -> Outcome:
    """`examine`, a crash being a problem."""
    try:
        return examine(seed, chip)
    except Exception as error:
        return Outcome(seed, chip, [f"crash: {type(error).__name__}: {str(error)[:300]}"])


def main() -> int:
    """Write the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--chips", nargs="+", default=CHIPS)
    parser.add_argument("--workers", type=int, default=2)
    parsed = parser.parse_args()
    jobs = [(s, c) for s in range(parsed.seed, parsed.seed + parsed.count) for c in parsed.chips]
    with ProcessPoolExecutor(parsed.workers) as pool:
        outcomes = list(pool.map(attempt, *zip(*jobs, strict=True)))
    text = list(lines(outcomes, parsed.chips))
    head = made_by("tests.fuzz.barriers")
    parsed.out.write_text("\n".join([head, *text]) + "\n", "utf-8")
    sys.stdout.write("\n".join(text[: len(parsed.chips)]) + "\n")
    return int(any(o.problems for o in outcomes))


if __name__ == "__main__":
    sys.exit(main())
