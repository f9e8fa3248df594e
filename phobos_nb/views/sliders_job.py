"""What the sliders' worker process does: compile a configuration, then count its work and bytes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phobos_nb.arguments.make import numpy_dtype, random_arguments
from phobos_nb.compilation.compilation import Compilation
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.contract import TensorParameter
from phobos_nb.diagnostics import PhobosError
from phobos_nb.language.aliasing import in_place_pairs
from phobos_nb.tune.compile_job import Compiled, KernelText, facts_of, reasons
from phobos_nb.tune.limits import refusal_of_code
from phobos_nb.tune.outcome import Constants
from phobos_nb.tune.snapshot import Snapshot
from phobos_nb.views.compilation import CompilationView
from phobos_nb.views.from_compilation import brief_of
from phobos_nb.views.roofline_arguments import laid_out
from phobos_nb.views.roofline_count import MOST_BYTES, Counted, count
from phobos_nb.views.roofline_of import Looked


@dataclass(frozen=True)
class Call:
    """A call as plain data. grid: the caller's, None to infer it.

    values: its scalars by name. arrays: copies of its arrays; where there are none, random ones are made
    for the extents, or where those would be too large to simulate, memory that nobody touches.
    """

    text: KernelText
    values: Mapping[str, Any]
    arrays: Mapping[str, Snapshot]
    extents: Mapping[str, int]
    grid: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a configuration: a view without listings, and what a bench can load.

    failed: why there is neither; refused: why the code cannot start although it compiles. lasting:
    whether it would be the same again, unlike a process that was lost.
    """

    view: CompilationView | None = None
    compiled: Compiled | None = None
    failed: str = ""
    refused: str = ""
    lasting: bool = True
    seconds: float = 0.0


@dataclass(frozen=True)
class Work:
    """Counted work, or why there is none."""

    counted: Counted | None = None
    missing: str = ""
    seconds: float = field(default=0.0, compare=False)


class Desk:
    """Lives in the worker process; its kernels keep what they compiled, so counting starts at once."""

    def __init__(self, call: Call) -> None:
        kernel = call.text.kernel()
        self._looked = Looked(kernel, _arguments(kernel, call), call.grid)

    def compile(self, constants: Constants) -> Outcome:
        """See `compiled`."""
        return compiled(self._looked, constants)

    def count(self, constants: Constants) -> Work:
        """Simulate some CTAs."""
        start = time.perf_counter()
        try:
            _, call, compilation = self._looked.solved(constants)
            found = count(compilation, call, self._looked.host)
        except (PhobosError, ValueError) as error:
            return Work(missing=reasons(error) if isinstance(error, PhobosError) else str(error))
        return Work(found, seconds=time.perf_counter() - start)


def compiled(looked: Looked, constants: Constants) -> Outcome:
    """Lower a configuration, look at the limits, run NVRTC where there is one."""
    start = time.perf_counter()
    try:
        _, _, compilation = looked.solved(constants)
        refused = refusal_of_code(compilation.contract, looked.target)
        view = brief_of(compilation)
        code = None if refused else _loadable(compilation, constants)
    except PhobosError as error:
        return Outcome(failed=reasons(error), seconds=time.perf_counter() - start)
    return Outcome(view, code, refused=refused, seconds=time.perf_counter() - start)


def _arguments(kernel: Kernel, call: Call) -> dict[str, Any]:
    """NumPy arrays and scalars by name, in the order of the signature."""
    if call.arrays:
        known = {**call.values, **laid_out(call.arrays)}
        return {p.name: known[p.name] for p in kernel.parameters}
    untouched = {
        p.name: _empty(p, call.extents) for p in kernel.parameters if isinstance(p, TensorParameter)
    }
    large = sum(a.nbytes for a in untouched.values()) > MOST_BYTES
    given = {**call.values, **call.extents, **(untouched if large else {})}
    return random_arguments(kernel.name, kernel.parameters, given, np.random.default_rng(0))


def _empty(tensor: TensorParameter, extents: Mapping[str, int]) -> Any:
    shape = [d if isinstance(d, int) else extents[d] for d in tensor.dims]
    return np.empty(shape, numpy_dtype(tensor.dtype))


def _loadable(compilation: Compilation, constants: Constants) -> Compiled | None:
    """The machine code; None where there is no NVRTC, which the view says."""
    try:
        cubins = tuple(launch.cubin for launch in compilation.launches)
    except PhobosError as error:
        if any(d.code != "PH601" for d in error.diagnostics):
            raise
        return None
    pairs = in_place_pairs(compilation.typed)
    return Compiled(constants, compilation.plan, cubins, pairs, facts_of(compilation))
