"""Where a simulated launch first differs from the right answer, who computed that, and from what.

The kind of fault is a diagnosis, tried in this order: a race in shared memory or a memory fault that
the simulator saw; errors only in partial tiles; elements written twice; right values in wrong places;
another race; elements that nobody wrote; what experiments on the call say; errors of the size of
roundings; else a wrong operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from phobos_nb.contract import LaunchContract
from phobos_nb.simulate.experiments import Question, Trial, ask
from phobos_nb.simulate.operands import Operand
from phobos_nb.simulate.records import SimulationResult
from phobos_nb.simulate.writers import Writer

Kind = Literal["race", "memory", "not written", "tail", "wrong index", "rounding", "wrong operation"]
Array = NDArray[Any]
ROUNDED = 2.0**-7
"""Errors up to this part of the largest wanted value may be those of rounding to bf16 or wider."""

SHOWN = 6
"""Operands that a difference prints."""


@dataclass(frozen=True)
class Difference:
    """The first wrong element of a tensor, in row-major order, and what is wrong in general.

    wrong: how many elements differ beyond the tolerance, of `total`. operands: the value that was stored
    there and what it was computed from, where a single launch of a kernel was compared. step: the
    store's number among the accesses, barriers and waits of its CTA, `trace[step]` of `simulate` with
    `ctas=[that one], trace=1`.
    """

    tensor: str
    index: tuple[int, ...]
    found: Any
    wanted: Any
    wrong: int
    total: int
    kind: Kind
    explanation: str
    writer: Writer | None
    operands: tuple[Operand, ...] = ()
    step: int | None = None

    def __str__(self) -> str:
        where = f"{self.tensor}[{', '.join(map(str, self.index))}]"
        who = "nobody wrote it"
        if self.writer is not None:
            w = self.writer
            when = "" if self.step is None else f", step {self.step} of its CTA"
            who = f"written by CTA {w.cta}, thread {w.thread} (lane {w.lane}) in {w.place}{when}"
        said = (
            f"{where} is {self.found}, wanted {self.wanted}; {who}. "
            f"{self.wrong} of {self.total} elements differ. {self.kind}: {self.explanation}"
        )
        return "\n".join([said, *(f"  {o}" for o in self.operands[:SHOWN])])


def compare(
    result: SimulationResult,
    wanted: Mapping[str, Array],
    contract: LaunchContract,
    tolerance: float | Mapping[str, Array] | None = None,
    trial: Trial | None = None,
) -> list[Difference]:
    """The differences of a simulation's outputs from the right ones, one per tensor that has any.

    tolerance: the largest absolute error, one number or arrays by tensor; by default 64 units in the
    last place of the largest wanted value. NaN equals NaN. Integers must be equal.
    trial: the call, to experiment with where the results alone do not tell what kind of fault it is.
    """
    found: list[Difference] = []
    for name, right in wanted.items():
        allowed = tolerance[name] if isinstance(tolerance, Mapping) else tolerance
        differ = partial(wrong_elements, tolerance=allowed)
        wrong = differ(result.outputs[name], right)
        if wrong.any():
            writer = partial(_cta_of_writer, result, name)
            output = result.outputs[name]
            question = Question(trial, name, output, right, differ, writer) if trial else None
            found.append(_difference(result, contract, name, right, wrong, question))
    return found


def _cta_of_writer(
    result: SimulationResult, name: str, index: tuple[int, ...]
) -> tuple[int, int, int] | None:
    writer = result.writer(name, index)
    return writer.cta if writer else None


def unit_roundoff(dtype: np.dtype[Any]) -> float:
    """Half the distance of 1 to the next number; 0 for integers."""
    return 0.0 if dtype.kind in "iub" else float(cast(Any, ml_dtypes).finfo(dtype).eps) / 2


def wrong_elements(output: Array, right: Array, tolerance: Any = None) -> NDArray[np.bool_]:
    """Which elements differ by more than the tolerance; of a larger one, its first part counts."""
    if output.dtype.kind in "iub":
        return output != right
    a, b = output.astype(np.float64), np.asarray(right, np.float64)
    if tolerance is None:
        tolerance = 128 * unit_roundoff(output.dtype) * _largest(b)
    elif np.ndim(tolerance):
        tolerance = np.asarray(tolerance)[tuple(map(slice, a.shape))]
    with np.errstate(invalid="ignore"):
        close = (np.abs(a - b) <= tolerance) | (a == b) | (np.isnan(a) & np.isnan(b))
    return ~close


def _largest(values: Array) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max(initial=0.0))


def _difference(
    result: SimulationResult,
    contract: LaunchContract,
    name: str,
    right: Array,
    wrong: NDArray[np.bool_],
    question: Question | None,
) -> Difference:
    output = result.outputs[name]
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    kind, explanation = diagnose(result, contract, name, right, wrong, question)
    return Difference(
        name,
        index,
        output[index],
        right[index],
        int(wrong.sum()),
        int(wrong.size),
        kind,
        explanation,
        result.writer(name, index),
    )


def diagnose(
    result: SimulationResult,
    contract: LaunchContract,
    name: str,
    right: Array,
    wrong: NDArray[np.bool_],
    question: Question | None = None,
) -> tuple[Kind, str]:
    """What kind of fault the wrong elements of a tensor speak for, and why."""
    seen = _seen(result, contract, name, right, wrong, question.trial.steps if question else frozenset())
    if seen is not None:
        return seen
    answer, faithful = ask(question) if question else (None, None)
    if answer is not None:
        return answer
    errors = (np.asarray(result.outputs[name], np.float64) - np.asarray(right, np.float64))[wrong]
    if _like_rounding(errors, _largest(np.asarray(right, np.float64))):
        largest = float(np.abs(errors).max())
        return "rounding", f"errors up to {largest:.3g} of both signs, as of values rounded narrower"
    return "wrong operation", "the values are right for no element" + _BLAME[faithful]


_BLAME = {None: "", True: ", and they are what the source means", False: ", nor what the source means"}


def _seen(
    result: SimulationResult,
    contract: LaunchContract,
    name: str,
    right: Array,
    wrong: NDArray[np.bool_],
    widths: frozenset[int],
) -> tuple[Kind, str] | None:
    """What the findings and the places of the wrong elements tell without another run."""
    for race in result.races:
        if race.tensor == "shared":
            return "race", str(race)
    tail = _tail(contract, name, wrong, widths)
    if result.faults:
        return ("tail" if tail else "memory"), str(result.faults[0])
    if tail:
        return "tail", tail
    for race in result.races:
        if race.tensor == name and race.kind == "write after write":
            return "race", str(race)
    output, wanted = (np.asarray(a, np.float64) for a in (result.outputs[name], right))
    if _moved(output, wanted, wrong):
        return "wrong index", "the values are right ones of other elements"
    if result.races:
        return "race", str(result.races[0])
    places: list[list[int]] = np.argwhere(wrong)[:64].tolist()
    if all(result.writer(name, p) is None for p in places):
        return "not written", "no thread stores these elements: the grid or the store's index is wrong"
    return None


def _like_rounding(errors: Array, largest: float) -> bool:
    """Whether errors are no larger than those of an 8-bit significand, and not all one way."""
    sizes = np.abs(errors)
    if not np.isfinite(sizes).all() or float(sizes.max()) > largest * ROUNDED:
        return False
    return len(errors) < 8 or abs(float(errors.mean())) < 0.5 * float(sizes.mean())


def _tail(contract: LaunchContract, name: str, wrong: NDArray[np.bool_], widths: frozenset[int]) -> str:
    """Why the wrong elements lie only in partial tiles; empty when they do not.

    A tile is as wide as the grid's step; along an extent over which the grid does not step, as one of
    `widths`.
    """
    dims = next(t.dims for t in contract.tensors if t.name == name)
    steps = {term.extent: term.step for axis in contract.grid.axes for term in axis}
    for axis, dim in enumerate(dims):
        extent, first = wrong.shape[axis], int(np.argwhere(wrong)[:, axis].min())
        for step in sorted([steps[dim]] if dim in steps else widths, reverse=True):
            if extent % step and extent > step and first >= extent - extent % step:
                return (
                    f"only the last {extent % step} of {extent} along axis {axis}, "
                    f"a partial tile of {step}"
                )
    return ""


def _moved(output: Array, right: Array, wrong: NDArray[np.bool_]) -> bool:
    """Whether nearly all wrong values are values that are wanted elsewhere."""
    ordered = np.sort(right[np.isfinite(right)].ravel())
    values = output[wrong]
    values = values[np.isfinite(values)][:4096]
    if not len(values) or len(ordered) < 2:
        return False
    at = np.clip(np.searchsorted(ordered, values), 1, len(ordered) - 1)
    nearest = np.minimum(np.abs(ordered[at] - values), np.abs(ordered[at - 1] - values))
    spread = float(ordered[-1] - ordered[0]) / len(ordered)
    near: NDArray[np.bool_] = nearest <= spread * 1e-3
    return float(near.mean()) > 0.9
