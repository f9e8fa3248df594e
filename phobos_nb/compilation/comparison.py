"""A call of a kernel in the simulator beside the right answer, and experiments on what is wrong."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from phobos_nb.arguments.simulation import check_comparison
from phobos_nb.compilation import stages
from phobos_nb.compilation.call import SolvedCall, describe_host, host_values
from phobos_nb.compilation.configuration import resolve
from phobos_nb.compilation.reference import Reference, asked, by_name
from phobos_nb.compilation.source_trials import SourceTrials
from phobos_nb.language.tree import Program
from phobos_nb.language.typed import Binary, Constant, For
from phobos_nb.language.types import TileType
from phobos_nb.language.walk import expressions, statements
from phobos_nb.onscreen import Show, display_of_this_process
from phobos_nb.simulate.compare import compare
from phobos_nb.simulate.difference import Difference, Differences
from phobos_nb.simulate.machine import linear_number
from phobos_nb.simulate.trial import Arrays, Cta, Trial, UnknownRight

if TYPE_CHECKING:
    from phobos_nb.compilation.kernel import Kernel
    from phobos_nb.simulate.records import SimulationResult

REPEATED = ("grid", "drop_barrier", "seed")
"""Options with which a call is made again."""


def compare_call(
    kernel: Kernel,
    values: Mapping[str, Any],
    ref: Reference | None,
    tolerance: Any,
    options: Mapping[str, Any],
) -> Differences:
    """`Kernel.compare` of a kernel without open dtypes; `options` are the simulator's, with the grid.

    values: an argument for each parameter by name, in their order.
    """
    result = kernel.simulate(*values.values(), **options)
    values = host_values(values)
    grid, configuration = options.get("grid"), resolve(kernel.options)
    call, compilation = kernel.compiled_call(values, describe_host, grid, configuration)
    trial = _trial(kernel, call, len(compilation.launches), values, options, ref, result.outputs)
    wanted = by_name(ref, result.outputs)
    if callable(ref):
        wanted = asked(kernel.name, ref, values, result.outputs)
    elif ref is None:
        wanted = cast(Any, trial.right)(trial.arrays)
    if ref is None:
        wanted = {name: wanted[name] for name in result.outputs}
    wanted = check_comparison(kernel.name, wanted, result.outputs, tolerance)
    say = Saying(kernel.name)
    found = compare(result, wanted, compilation.contract, tolerance, replace(trial, say=say))
    say.close()
    found.source = kernel.source.text, kernel.source.first_line
    if len(compilation.launches) == 1:
        found[:] = [_followed(kernel, values, options, call.grid, x) for x in found]
    return found


class Saying:
    """Shows what is being tried, where somebody would see it, and in the end how long it took."""

    def __init__(self, kernel: str) -> None:
        self._kernel = kernel
        self._display: tuple[Show, Show] | None = None
        self._begun = time.perf_counter()

    def __call__(self, what: str) -> None:
        """Replace the line."""
        self._display = self._display or display_of_this_process()
        if self._display is not None:
            self._display[0](f"{self._kernel}: looking for the cause, {what}")

    def close(self) -> None:
        """End with a line, if there was one."""
        if self._display is not None:
            seconds = time.perf_counter() - self._begun
            self._display[1](f"{self._kernel}: looked for the cause for {seconds:.1f} s")


def _followed(
    kernel: Kernel,
    values: Mapping[str, Any],
    options: Mapping[str, Any],
    grid: Cta,
    found: Difference,
) -> Difference:
    """When the first wrong element was stored and from what: its CTA is run once more."""
    if found.writer is None:
        return found
    same = {k: options[k] for k in REPEATED if k in options}
    cta = linear_number(found.writer.cta, grid)
    probe = (found.tensor, found.index)
    again = kernel.simulate(*values.values(), **same, ctas=[cta], probe=probe, races=False, banks=False)
    return replace(found, operands=tuple(again.operands), step=again.step)


def _trial(
    kernel: Kernel,
    call: SolvedCall,
    launches: int,
    values: Mapping[str, Any],
    options: Mapping[str, Any],
    ref: Reference | None,
    outputs: Iterable[str],
) -> Trial:
    """The call, to be made again with other arrays of the same shapes."""
    scalars = {name: value for name, value in values.items() if name not in call.arrays}
    same = kernel.specialize(**call.typed.constants, **call.choices)
    repeated = {k: options[k] for k in REPEATED if k in options}
    names = frozenset(outputs)

    def changed(program: Program, arrays: Arrays) -> SimulationResult | None:
        if repeated.get("drop_barrier") is not None:
            return None  # what is wrong is not of the source
        other = same.of_program(program)
        return other.simulate(**repeated, banks=False, **arrays, **scalars)

    def simulated(arrays: Arrays, cta: Cta | None) -> Arrays:
        some = None
        if cta is not None and launches == 1:
            some = [linear_number(cta, call.grid)]
        return same.simulate(
            **repeated, ctas=some, races=False, banks=False, **arrays, **scalars
        ).outputs

    def meant(arrays: Arrays, outside: float | None, cta: Cta | None) -> Arrays:
        copies = {id(array): array.copy() for array in arrays.values()}
        own = {name: copies[id(array)] for name, array in arrays.items()}
        some = None if cta is None else [cta]
        stages.run_meaning(call.typed, own, call.scalars, call.grid, some, outside=outside, silent=True)
        return own

    def right(arrays: Arrays) -> Arrays:
        if not callable(ref):
            return meant(arrays, None, None)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                given = ref({**{name: array.copy() for name, array in arrays.items()}, **scalars})
            right = cast(Mapping[str, Any], by_name(given, names))
            return {name: np.asarray(array) for name, array in right.items()}
        except Exception as error:  # the caller's own function, which need not take such arrays
            raise UnknownRight(str(error)) from error

    arrays = {name: np.asarray(values[name]) for name in call.arrays}
    known = right if ref is None or callable(ref) else None
    dims = {tensor.name: tensor.dims for tensor in call.typed.tensor_parameters}
    text = SourceTrials(kernel, call, names, changed)
    return Trial(arrays, simulated, meant, known, dims, _steps(call), text)


def _steps(call: SolvedCall) -> frozenset[int]:
    """The widths of all tiles and shared arrays, the steps of all loops, and what is divided by."""
    body = list(statements(call.typed.body))
    found = [e for s in body for e in expressions(s)]
    widths = {n for e in found if isinstance(e.type, TileType) for n in e.type.shape}
    widths |= {n for array in call.typed.shared for n in array.type.shape}
    divisors = [e.right for e in found if isinstance(e, Binary) and e.op in "/%"]
    widths |= {int(x.value) for x in divisors if isinstance(x, Constant)}
    steps = [s.step for s in body if isinstance(s, For)]
    widths |= {int(x.value) for x in steps if isinstance(x, Constant)}
    return frozenset(n for n in widths if n > 1)
