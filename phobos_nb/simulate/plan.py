"""Simulating a launch plan: its launches one after the other, over scratch that starts as NaN."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from phobos_nb.contract import LaunchContract, LaunchPlan
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.simulate.following import Following, Step
from phobos_nb.simulate.launch import simulate, symbols
from phobos_nb.simulate.recorder import Cta, SimulationInterrupted
from phobos_nb.simulate.records import SimulationResult

_TYPES = {"f32": np.float32, "f64": np.float64}


def simulate_plan(
    modules: Sequence[ModuleOp],
    plan: LaunchPlan,
    arguments: Mapping[str, Any],
    *,
    grid: Cta,
    ctas: Sequence[int] | None = None,
    named: Sequence[Callable[[SimulationResult], SimulationResult]] = (),
    **options: Any,
) -> SimulationResult:
    """Run the thread modules of a plan, one per launch; options are those of `launch.simulate`.

    named: for each launch, what gives its findings in shared memory names; by default nothing.

    Counts and findings of all launches are together in the result, in order; a read of unwritten shared
    memory is a fault if what the call gives depends on it, see `Following`. Raises PH715 for
    `ctas` where there are several launches: each needs what all CTAs of the one before left.
    """
    names = named or [_unnamed] * len(modules)
    if len(modules) == 1:
        return _one(names[0], modules[0], plan.main, arguments, grid=grid, ctas=ctas, **options)
    if ctas is not None:
        count = len(modules)
        message = f"ctas: {plan.kernel} is {count} launches, and the last needs all CTAs before it"
        help = "leave `ctas` out, or set SPLIT_K=1"
        raise PhobosError([Diagnostic("PH715", message, help=help, stage="simulate")])
    arrays = {t.name: np.asarray(arguments[t.name]) for t in plan.main.tensors if t.name in arguments}
    extents = symbols(replace(plan.main, parameters=plan.parameters), arrays)
    values = dict(arguments)
    values |= {s.name: np.full(s.shape(extents), np.nan, _TYPES[s.dtype]) for s in plan.scratch}
    results: list[SimulationResult] = []
    contracts = [launch.contract for launch in plan.launches]
    steps = list(map(Step, modules, contracts, plan.grids(grid, extents)))
    scratch = {s.name for s in plan.scratch}
    for number, (step, name) in enumerate(zip(steps, names, strict=True)):
        following = Following(steps[number + 1 :], dict(values), scratch, options.get("seed", 0))
        own = {"grid": step.grid, "differ": following.differ, **options}
        results.append(_one(name, step.module, step.contract, values, **own))
        values |= results[-1].outputs
        if results[-1].stopped:
            break
    return _together(results, scratch)


def _one(
    name: Callable[[SimulationResult], SimulationResult],
    module: ModuleOp,
    contract: LaunchContract,
    arguments: Mapping[str, Any],
    **options: Any,
) -> SimulationResult:
    """One launch, its findings named, those of an interrupted one too."""
    try:
        return name(simulate(module, contract, arguments, **options))
    except SimulationInterrupted as interrupted:
        interrupted.result = name(interrupted.result)
        raise


def _unnamed(result: SimulationResult) -> SimulationResult:
    return result


def _together(results: Sequence[SimulationResult], scratch: Set[str]) -> SimulationResult:
    """One result for all launches: the last one's outputs and writers, everything else added up."""
    last = results[-1]
    outputs = {name: array for name, array in last.outputs.items() if name not in scratch}
    return replace(
        last,
        outputs=outputs,
        races=[x for r in results for x in r.races],
        faults=[x for r in results for x in r.faults],
        accesses=[x for r in results for x in r.accesses],
        lines=[x for r in results for x in r.lines],
        barriers=[x for r in results for x in r.barriers],
        trace=[x for r in results for x in r.trace],
        printed=[x for r in results for x in r.printed],
        instructions=sum(r.instructions for r in results),
        ctas=sum(r.ctas for r in results),
        grid_ctas=sum(r.grid_ctas for r in results),
        flops=dict(sum((Counter(r.flops) for r in results), Counter[str]())),
    )
