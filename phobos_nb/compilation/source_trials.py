"""A kernel's source with something changed, run for a call's arrays, to find why results are wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from phobos_nb.compilation import stages
from phobos_nb.compilation.call import SolvedCall
from phobos_nb.diagnostics import PhobosError
from phobos_nb.dtypes import ALL
from phobos_nb.language.meaning.conversion import numpy_dtype
from phobos_nb.language.slips import Slip, slips
from phobos_nb.language.slips.floats import FLOATS, with_floats
from phobos_nb.language.tree import Program
from phobos_nb.language.typed import Call, TypedKernel
from phobos_nb.language.types import ScalarType, TileType
from phobos_nb.language.walk import all_expressions
from phobos_nb.simulate.tolerance import unit_roundoff
from phobos_nb.simulate.trial import Arrays, Cta, Meaning

if TYPE_CHECKING:
    from phobos_nb.compilation.kernel import Kernel
    from phobos_nb.simulate.records import SimulationResult

UNIT_F32 = 2.0**-24


class SourceTrials:
    """The source of one call. outputs: the tensors that it may write.

    simulate: the same call of the kernel of another program; None where that says nothing.
    """

    def __init__(
        self,
        kernel: Kernel,
        call: SolvedCall,
        outputs: frozenset[str],
        simulate: Callable[[Program, Arrays], SimulationResult | None],
    ) -> None:
        self._program, self._name = kernel.program, kernel.name
        self._simulate = simulate
        self._dtypes = kernel.dtypes
        self._call, self._outputs = call, outputs

    @property
    def grid(self) -> Cta:
        """The call's."""
        return self._call.grid

    @property
    def full(self) -> Cta | None:
        """The grid that the stores of the source ask for, None where they do not tell."""
        rule = self._call.typed.grid
        return None if rule.problem else rule.shape(self._call.extents)

    @property
    def atomic(self) -> bool:
        """Whether CTAs add to what others have added to."""
        calls = (e for e in all_expressions(self._call.typed.body) if isinstance(e, Call))
        return any(call.builtin.startswith("atomic_") for call in calls)

    def slips(self) -> Iterator[Slip]:
        """Every small change of the source."""
        return slips(self._program, self._name)

    def line(self, slip: Slip) -> int:
        """The line of a change, as the reader numbers them."""
        return self._program.source.position(slip.span.start).line

    def changed(self, slip: Slip | None) -> Meaning | None:
        """What the source with a change means; None where it does not type-check."""
        if slip is None:
            return self._meaning(self._call.typed)
        assert slip.program is not None
        try:
            typed = stages.check_change(slip.program, self._call.typed, self._dtypes)
        except PhobosError:
            return None
        return self._meaning(typed)

    def clean(self, slip: Slip, arrays: Arrays) -> Arrays | None:
        """The outputs of the changed kernel, compiled; None where it races, faults or is refused."""
        assert slip.program is not None
        try:
            result = self._simulate(slip.program, arrays)
        except PhobosError:
            return None
        return None if result is None or result.races or result.faults else result.outputs

    @property
    def narrow(self) -> tuple[str, float] | None:
        """The narrowest float type that the source uses, if narrower than f32, and its unit roundoff."""
        typed = self._call.typed
        types = (e.type for e in all_expressions(typed.body))
        used = {t.dtype for t in types if isinstance(t, ScalarType | TileType)}
        names = {d.name for d in used} | {typed.dtype_of(t.name).name for t in typed.tensors}
        units = {n: unit_roundoff(numpy_dtype(ALL[n])) for n in names if n in FLOATS}
        narrowest = max(units, key=lambda n: units[n], default="f32")
        return (narrowest, units[narrowest]) if units.get(narrowest, 0) > UNIT_F32 else None

    def floats(self, dtype: str) -> Meaning | None:
        """What the source means when all of its floats are of one type; None where that cannot be."""
        dtypes = {n: dtype if d in FLOATS else d for n, d in self._dtypes.items()}
        program = with_floats(self._program, dtype)
        try:
            typed = stages.check(program, self._name, self._call.typed.constants, dtypes)
        except PhobosError:
            return None
        return self._meaning(typed, dtype)

    def _meaning(self, typed: TypedKernel, floats: str | None = None) -> Meaning:
        def run(
            arrays: Arrays, cta: Cta | None = None, grid: Cta | None = None, seconds: float | None = None
        ) -> Arrays:
            own = _converted(typed, arrays, floats) if floats else self._owned(arrays)
            scalars = _rounded(self._call) if floats else self._call.scalars
            deadline = None if seconds is None else time.perf_counter() + seconds
            stages.run_meaning(
                typed, own, scalars, grid or self._call.grid, None if cta is None else [cta],
                silent=True, deadline=deadline,
            )  # fmt: skip
            return own

        return run

    def _owned(self, arrays: Arrays) -> dict[str, Any]:
        """Copies of what may be written, also where several names are one array; the rest read only."""
        written = {id(arrays[name]) for name in self._outputs}
        copies = {id(a): a.copy() if id(a) in written else _read_only(a) for a in arrays.values()}
        return {name: copies[id(array)] for name, array in arrays.items()}


def _rounded(call: SolvedCall) -> dict[str, Any]:
    """The scalars as the kernel takes them, rounded to their declared types."""
    types = {p.name: numpy_dtype(ALL[p.dtype]) for p in call.typed.scalars}
    return {name: types[name].type(value) for name, value in call.scalars.items()}


def _read_only(array: Any) -> Any:
    view = array.view()
    view.flags.writeable = False
    return view


def _converted(typed: TypedKernel, arrays: Arrays, floats: str) -> dict[str, Any]:
    kinds = {tensor.name: numpy_dtype(typed.dtype_of(tensor.name)) for tensor in typed.tensors}
    copies = {(id(a), kinds[n]): np.array(a, kinds[n]) for n, a in arrays.items()}
    assert floats in FLOATS
    return {name: copies[id(array), kinds[name]] for name, array in arrays.items()}
