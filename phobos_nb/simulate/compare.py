"""Where a simulated launch first differs from the right answer, who computed that, and from what.

The kind of fault is a diagnosis, see `phobos_nb.simulate.diagnosis`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.contract import LaunchContract
from phobos_nb.simulate.diagnosis import Evidence, diagnose, told
from phobos_nb.simulate.difference import Difference, Differences, Kind, Verdict
from phobos_nb.simulate.records import Fault, Race, SimulationResult
from phobos_nb.simulate.roundings import Rounding
from phobos_nb.simulate.tolerance import Standard, unit_roundoff, wrong_elements
from phobos_nb.simulate.trial import Question, Trial

__all__ = ["Difference", "Differences", "Kind", "compare", "unit_roundoff", "wrong_elements"]

Array = NDArray[Any]


def compare(
    result: SimulationResult,
    wanted: Mapping[str, Array],
    contract: LaunchContract,
    tolerance: float | Mapping[str, Array] | None = None,
    trial: Trial | None = None,
) -> Differences:
    """The differences of a simulation's outputs from the right ones, one per tensor that has any.

    tolerance: the largest absolute error, one number or arrays by tensor; by default 64 units in the
    last place of the largest wanted value. NaN equals NaN. Integers must be equal.
    trial: the call, to experiment with where the results alone do not tell what kind of fault it is.
    Races and faults that leave all values right are differences with `wrong` 0.
    """
    standard = Standard(wanted, tolerance)
    found: list[Difference] = []
    remarks: list[str] = []
    for name, right in wanted.items():
        wrong = standard.wrong(name, result.outputs[name])
        if not wrong.any():
            continue
        question = None
        if trial:
            writer = partial(_cta_of_writer, result, name)
            question = Question(trial, name, result.outputs, standard, writer)
        verdict = diagnose(Evidence(result, contract, name, right, wrong, question))
        if isinstance(verdict, Rounding):
            remarks.append(f"{name} agrees but for rounding: {verdict}")
        else:
            found.append(_difference(result, name, right, wrong, verdict))
    if not found:
        found = _beside(result)
    elif not any(d.kind in ("race", "memory") for d in found):
        remarks += [f"seen too: {d.verdict}" for d in _beside(result)]
    return Differences(found, remarks, wanted)


def _cta_of_writer(
    result: SimulationResult, name: str, index: tuple[int, ...]
) -> tuple[int, int, int] | None:
    writer = result.writer(name, index)
    return writer.cta if writer else None


def _difference(
    result: SimulationResult, name: str, right: Array, wrong: NDArray[np.bool_], verdict: Verdict
) -> Difference:
    output = result.outputs[name]
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    return Difference(
        name,
        index,
        output[index],
        right[index],
        int(wrong.sum()),
        int(wrong.size),
        verdict.kind,
        verdict.explanation,
        result.writer(name, index),
        candidates=verdict.candidates,
        excluded=verdict.excluded,
        certain=verdict.certain,
        change=verdict.change,
        lines=_lines(result, name, index, verdict),
    )


def _lines(
    result: SimulationResult, name: str, index: tuple[int, ...], verdict: Verdict
) -> tuple[int, ...]:
    """The lines of the change, the race or the fault, and the store, in that order."""
    found = [verdict.change.line] if verdict.change else []
    if verdict.kind == "race" and result.races:
        found += [result.races[0].first.line, result.races[0].second.line]
    if verdict.kind == "memory" and result.faults:
        found.append(result.faults[0].place.line)
    writer = result.writer(name, index)
    if writer is not None:
        found.append(writer.place.line)
    return tuple(dict.fromkeys(line for line in found if line))


def _beside(result: SimulationResult) -> list[Difference]:
    """What was seen although the values are right: the first race and the first fault."""
    races = [_seen("race", r, _both(r), result) for r in result.races[:1]]
    faults = [_seen("memory", f, (f.place.line,), result) for f in result.faults[:1]]
    return races + faults


def _both(race: Race) -> tuple[int, ...]:
    return tuple(dict.fromkeys((race.first.line, race.second.line)))


def _seen(
    kind: Kind, finding: Race | Fault, lines: tuple[int, ...], result: SimulationResult
) -> Difference:
    """A finding as a difference without a wrong element; `found` is the value there, if it has one."""
    tensor, element = finding.tensor, finding.element
    held = result.outputs.get(tensor)
    value, total = None, 0
    if held is not None:
        total = int(held.size)
        inside = len(element) == held.ndim and all(
            0 <= i < n for i, n in zip(element, held.shape, strict=True)
        )
        value = held[element] if inside else None
    return Difference(tensor, element, value, value, 0, total, kind, told(finding), None, lines=lines)
