"""A call of a kernel in the simulator: what is compiled for it, and its result in the text's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from phobos_nb.arguments.simulation import check_simulation
from phobos_nb.compilation import stages
from phobos_nb.compilation.call import SolvedCall, describe_host, host_values
from phobos_nb.compilation.configuration import resolve
from phobos_nb.compilation.told import told
from phobos_nb.diagnostics import PhobosError
from phobos_nb.language.tree import Program
from phobos_nb.simulate.race_help import RaceText

if TYPE_CHECKING:
    from phobos_nb.compilation.kernel import Kernel
    from phobos_nb.simulate.records import SimulationResult


def simulate_call(
    kernel: Kernel,
    arguments: Mapping[str, Any],
    grid: Any,
    drop_barrier: int | None,
    options: Mapping[str, Any],
) -> SimulationResult:
    """`Kernel.simulate` of a kernel without open dtypes, its arguments by name; asserts are checked."""
    values = host_values(arguments)
    dropped = kernel.options.drop_barrier if drop_barrier is None else drop_barrier
    configuration = resolve(replace(kernel.options, drop_barrier=dropped))
    call, compilation = kernel.compiled_call(values, describe_host, grid, configuration, asserts=True)
    check_simulation(kernel.name, options, call.grid, {n: values[n].shape for n in call.arrays})
    converted = {name: call.scalars.get(name, value) for name, value in values.items()}
    modules = [x.thread_module for x in compilation.launches]
    text = _race_text(kernel, call, options)
    names = [partial(told, x.shared_memory, x.barriers, dropped, text) for x in compilation.launches]
    return stages.simulate_plan(modules, compilation.plan, converted, call.grid, named=names, **options)


def _race_text(kernel: Kernel, call: SolvedCall, options: Mapping[str, Any]) -> RaceText:
    """The text, to say what mends its races."""

    def takes(program: Program) -> bool:
        try:
            stages.check_change(program, call.typed, kernel.dtypes)
        except PhobosError:
            return False
        return True

    return RaceText(kernel.program, takes, bool(options.get("seed")))
