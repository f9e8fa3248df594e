"""What kind of fault the wrong elements of a tensor speak for.

Tried in this order: a race in shared memory or a memory fault that the simulator saw; a grid that is too
small; errors only in partial tiles; a race in global memory; rounding, by running the source in wider
types; a single change of the source that makes the values right; right values in wrong places; what
experiments on the call say. What is left over is called a wrong operation, and said not to be shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.contract import LaunchContract
from phobos_nb.diagnostics import PhobosError
from phobos_nb.simulate.blame import blamed, regridded
from phobos_nb.simulate.difference import Verdict
from phobos_nb.simulate.experiments import ask
from phobos_nb.simulate.mending import Mend, Search, mended, search
from phobos_nb.simulate.records import Fault, Race, SimulationResult
from phobos_nb.simulate.roundings import Rounding, error, like_rounding, rounding
from phobos_nb.simulate.telling import alone, hidden
from phobos_nb.simulate.tolerance import default_tolerance
from phobos_nb.simulate.trial import Question, Text

Array = NDArray[Any]
UNWRITTEN = "no thread stores these elements"
ANOTHER = "`ref`: it may be of another function than the kernel, which does what its source says"
DISTINCT = 16
"""Right values of which one is no chance find."""


@dataclass(frozen=True)
class Evidence:
    """A simulation, the tensor that is wrong, and where. question: the call to experiment with."""

    result: SimulationResult
    contract: LaunchContract
    name: str
    right: Array
    wrong: NDArray[np.bool_]
    question: Question | None

    @property
    def output(self) -> Array:
        """The tensor as found."""
        return self.result.outputs[self.name]

    @property
    def nobody(self) -> bool:
        """Whether none of the wrong elements was written."""
        places: list[list[int]] = np.argwhere(self.wrong)[:64].tolist()
        return all(self.result.writer(self.name, p) is None for p in places)


def diagnose(evidence: Evidence) -> Verdict | Rounding:
    """The kind of fault, and why; a `Rounding` where nothing is wrong but what f32 cannot avoid."""
    seen = _seen(evidence)
    question = evidence.question
    if seen is None and question is not None:
        return _tried(evidence, question)
    if seen is None:
        return _moved_or_unwritten(evidence) or _left_over(evidence)
    if question is not None and seen.kind in ("tail", "race", "memory", "not written"):
        return _with_change(seen, evidence, question)
    return seen


def _seen(evidence: Evidence) -> Verdict | None:
    """What the findings and the places of the wrong elements tell without another run."""
    result = evidence.result
    for race in result.races:
        if race.tensor == "shared":
            return _race(race)
    question = evidence.question
    widths = question.trial.steps if question else frozenset[int]()
    tail, whole = _tail(evidence, widths)
    if result.faults:
        return Verdict("tail" if tail else "memory", told(result.faults[0]))
    if evidence.nobody and (small := _small_grid(evidence)):
        return Verdict("not written", small)
    if tail:
        return Verdict("tail", tail, certain=whole > 1)
    if any(race.tensor == evidence.name and race.kind == "write after write" for race in result.races):
        return _race(result.races[0])
    if result.races:
        return _right_elsewhere(evidence) or _race(result.races[0])
    return None


def _race(race: Race) -> Verdict:
    return Verdict("race", told(race))


def told(finding: Race | Fault) -> str:
    """A race or a fault, and what mends it."""
    return f"{finding}. {finding.help}" if finding.help else str(finding)


def _with_change(seen: Verdict, evidence: Evidence, question: Question) -> Verdict:
    """A fault that was seen, with a change of the source that takes it away.

    Where a race or a fault makes the values wrong, a change that only fits them to what was found on
    this schedule says nothing: it is told if the changed kernel runs without either. What races computes
    other values in another order, so that its source need not mean what was found; then the lines of the
    races are looked at.
    """
    text = question.trial.text
    raced = evidence.result.races if text is not None else []
    proven = None
    if text is not None and (raced or evidence.result.faults):
        proven = partial(_clears, text=text, question=question)
    try:
        faithful = question.faithful()
        if not faithful and not raced:
            return seen
        lines = () if faithful else {p.line for race in raced for p in (race.first, race.second)}
        found = search(question, lines=lines, proven=proven)
    except PhobosError:
        return seen
    if proven is not None:
        return _see(seen, found, ", and without a race or a fault")
    if found.mends and not seen.certain:
        return blamed(question, found)
    return _see(seen, found)


def _tried(evidence: Evidence, question: Question) -> Verdict | Rounding:
    """What experiments tell."""
    nothing = hidden(question)
    if nothing:
        unwritten = _moved_or_unwritten(evidence) if evidence.nobody else None
        return unwritten or Verdict("wrong operation", nothing, certain=False)
    try:
        faithful = question.faithful()
    except PhobosError:
        faithful = False
    rounded = rounding(question)
    if rounded is not None:
        return _rounding(rounded, question, faithful)
    found = search(question) if faithful else Search()
    if found.mends:
        verdict = _doubted_alone(blamed(question, found), question)
        if evidence.nobody and verdict.kind != "tail":
            return replace(
                verdict, kind="not written", explanation=f"{UNWRITTEN}; {verdict.explanation}"
            )
        return verdict
    simple = _moved_or_unwritten(evidence)
    if simple is not None:
        return simple
    grid = regridded(question) if faithful else None
    answer = grid or ask(question, faithful)
    if answer is not None:
        return answer
    return _doubted(_left_over(evidence), evidence, question, faithful, found)


def _doubted_alone(verdict: Verdict, question: Question) -> Verdict:
    why = alone(question)
    if not why:
        return verdict
    return replace(verdict, explanation=f"{verdict.explanation}; {why}", certain=False)


def _rounding(rounded: Rounding, question: Question, faithful: bool) -> Verdict | Rounding:
    if rounded.harmless and question.standard.asked is None:
        return rounded
    verdict = Verdict("rounding", str(rounded))
    if faithful and not rounded.inherent:
        return _see(verdict, search(question))
    return verdict


def _clears(mend: Mend, text: Text, question: Question) -> bool:
    """Whether the changed kernel, compiled, gives the right values, no race and no fault."""
    outputs = text.clean(mend.slip, question.trial.arrays)
    return outputs is not None and mended(question, outputs)


def _see(verdict: Verdict, found: Search, more: str = "") -> Verdict:
    """With the change that mends it and one more."""
    if not found.mends:
        return verdict
    words = tuple(m.words + more for m in found.mends[:2])
    return replace(verdict, candidates=words, change=found.mends[0].change)


def _moved_or_unwritten(evidence: Evidence) -> Verdict | None:
    if evidence.nobody:
        return Verdict("not written", f"{UNWRITTEN}: the grid or the store's index is wrong")
    return _right_elsewhere(evidence)


def _right_elsewhere(evidence: Evidence) -> Verdict | None:
    output, wanted = (np.asarray(a, np.float64) for a in (evidence.output, evidence.right))
    if _moved(output, wanted, evidence.wrong, evidence.output.dtype):
        return Verdict("wrong index", "the values are right ones of other elements")
    return None


def _left_over(evidence: Evidence) -> Verdict:
    output, right = evidence.output, evidence.right
    if output.dtype.kind not in "iub" and like_rounding(output, right, evidence.wrong):
        worst = error(output, right)
        allowed = default_tolerance(evidence.output.dtype, evidence.right)
        text = (
            f"errors up to {worst:.3g} of both signs where {allowed:.3g} is allowed, "
            "as of values rounded narrower"
        )
        return Verdict("rounding", text, certain=False)
    return Verdict("wrong operation", "none of the experiments tells the cause", certain=False)


def _doubted(
    verdict: Verdict, evidence: Evidence, question: Question, faithful: bool, found: Search
) -> Verdict:
    """With what else can be said when the cause is not known."""
    verdict = replace(verdict, excluded=tuple(_excluded(evidence, question, found)))
    if faithful:
        return replace(verdict, candidates=(*found.partial, ANOTHER))
    return replace(verdict, explanation=_unfaithful(question) or verdict.explanation)


def _unfaithful(question: Question) -> str:
    if question.differ(question.meant, question.right).any():
        return ""
    return (
        "the source means the right values, the compiled kernel computes others: a fault of the compiler"
    )


def _excluded(evidence: Evidence, question: Question, found: Search) -> Iterator[str]:
    if not evidence.result.races:
        yield "a race"
    if not evidence.result.faults:
        yield "an access outside memory"
    yield "errors in partial tiles only"
    yield "right values in other places"
    yield "an operand shifted by one, reversed, transposed or exchanged with another"
    if found.tried:
        what = "every" if found.whole else "the likeliest"
        yield f"{what} single change of the source ({found.tried:,} tried)"
    if question.trial.text is not None and question.trial.text.floats("f64") is not None:
        yield "rounding"


def _small_grid(evidence: Evidence) -> str:
    """Why a grid leaves elements out; empty when it does not."""
    question = evidence.question
    text = question.trial.text if question else None
    if text is None or text.full is None:
        return ""
    grid, full = text.grid, text.full
    if all(a >= b for a, b in zip(grid, full, strict=True)):
        return ""
    return f"the grid {grid} has too few CTAs, the stores need {full}"


def _tail(evidence: Evidence, widths: frozenset[int]) -> tuple[str, int]:
    """Why the wrong elements lie only in partial tiles, empty when they do not, and how many are whole.

    Behind a single whole tile they may be wrong for being in another tile than the first.

    A tile is as wide as the grid's step; along an extent over which the grid does not step, as one of
    `widths`.
    """
    contract, wrong = evidence.contract, evidence.wrong
    dims = next(t.dims for t in contract.tensors if t.name == evidence.name)
    steps = {term.extent: term.step for axis in contract.grid.axes for term in axis}
    for axis, dim in enumerate(dims):
        extent, first = wrong.shape[axis], int(np.argwhere(wrong)[:, axis].min())
        for step in sorted([steps[dim]] if dim in steps else widths, reverse=True):
            if extent % step and extent > step and first >= extent - extent % step:
                text = (
                    f"only the last {extent % step} of {extent} along axis {axis}, "
                    f"a partial tile of {step}"
                )
                return text, extent // step
    return "", 0


def _moved(output: Array, right: Array, wrong: NDArray[np.bool_], dtype: np.dtype[Any]) -> bool:
    """Whether nearly all wrong values are values that are wanted elsewhere, and that is no chance."""
    ordered = np.unique(right[np.isfinite(right)])
    values = output[wrong]
    values = values[np.isfinite(values)][:4096]
    if len(np.unique(values)) < min(DISTINCT, len(values)) or not len(values) or len(ordered) < DISTINCT:
        return False
    if dtype.kind in "iub" and len(ordered) > 0.1 * (ordered[-1] - ordered[0]):
        return False  # the values lie so dense that any is one of them
    at = np.clip(np.searchsorted(ordered, values), 1, len(ordered) - 1)
    nearest = np.minimum(np.abs(ordered[at] - values), np.abs(ordered[at - 1] - values))
    spread = float(ordered[-1] - ordered[0]) / len(ordered)
    near: NDArray[np.bool_] = nearest <= spread * 1e-3
    return float(near.mean()) > 0.9
