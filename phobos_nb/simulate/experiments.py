"""What kind of fault wrong results speak for, found by running the call again with something changed.

A kernel of which the results become right when its tiles read another number outside their tensors, or
when an operand is shifted by one, has named its own fault. So has one whose results do not notice that
the end of an operand is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from phobos_nb.simulate.difference import Verdict
from phobos_nb.simulate.influence import Box, Influence, Other, changes, compare_influences
from phobos_nb.simulate.mending import REFUSED, inmost
from phobos_nb.simulate.telling import only_nan
from phobos_nb.simulate.tolerance import largest
from phobos_nb.simulate.trial import MENDED, Array, Arrays, Question, Trial, UnknownRight

OUTSIDE = (float("-inf"), float("inf"), 0.0, 1.0)
"""Neutral elements of max, min, sums and products."""
CLEAR = 0.02
"""Part of the largest right value from which a change is no rounding, be it to f16 or bf16."""
MOST_PARTS = 1500
"""Parts of operands looked at in all: about 8 s of a slow kernel, on every machine the same."""
MOST_SLOPES = 64
"""Elements whose weights are compared."""
TIMES_OFF = 0.02
"""How near the quotient of two weights is to a whole number that is one."""


def ask(question: Question, faithful: bool) -> Verdict | None:
    """What the experiments say. faithful: whether the source means the wrong values."""
    goal = question.right if faithful else question.found
    for experiment in (_whole_tiles, _outside, _unread_end, _changed_operand, _influences):
        question.trial.show("experiments with other operands")
        try:
            found = experiment(question, goal, faithful)
        except (*REFUSED, UnknownRight):  # the kernel refuses such shapes or values, or the reference
            continue
        if found is not None:
            return found
    return None


def _reaches(question: Question, goal: Array, arrays: Arrays, outside: float | None = None) -> bool:
    """Whether the source, on other arrays or with other padding, means what is looked for."""
    meant = question.trial.meant(arrays, outside, None)[question.name]
    return int(question.differ(meant, goal).sum()) <= MENDED * int(question.wrong.sum())


def _whole_tiles(question: Question, goal: Array, faithful: bool) -> Verdict | None:
    """An extent at whose last multiple of a tile's width nothing is wrong."""
    del goal
    trial = question.trial
    if trial.right is None:
        return None
    for symbol, extent, whole in ragged(trial):
        if trial.over:
            return None
        arrays = cut(trial, symbol, whole)
        found, right = (
            outputs[question.name] for outputs in (trial.run(arrays, faithful), trial.right(arrays))
        )
        if not question.standard.differ_anywhere(question.name, found, right) and not _by_chance(
            question, symbol, whole, faithful
        ):
            words = f"nothing is wrong where {symbol} is {whole}, whole tiles, in place of {extent}"
            return Verdict("tail", words)
    return None


def _by_chance(question: Question, symbol: str, whole: int, faithful: bool) -> bool:
    """Whether twice as much of an extent is wrong again: then it is no matter of whole tiles.

    Known only where the output does not grow with the extent, so that the call's grid covers it.
    """
    trial = question.trial
    if symbol in trial.dims[question.name] or trial.right is None:
        return False
    arrays = twice(trial, symbol, whole)
    try:
        found, right = (x[question.name] for x in (trial.run(arrays, faithful), trial.right(arrays)))
    except (*REFUSED, UnknownRight):
        return False
    return question.standard.differ_anywhere(question.name, found, right)


def twice(trial: Trial, symbol: str, extent: int) -> Arrays:
    """The arrays with the first part of one extent two times."""
    return {
        name: array
        if symbol not in trial.dims[name]
        else np.concatenate([array, array], axis=trial.dims[name].index(symbol))
        for name, array in cut(trial, symbol, extent).items()
    }


def ragged(trial: Trial) -> Iterator[tuple[str, int, int]]:
    """Each symbol that leaves a part of a tile: its extent and the largest one below that does not."""
    extents = {
        dim: n for name, dims in trial.dims.items()
        for dim, n in zip(dims, trial.arrays[name].shape, strict=True) if isinstance(dim, str)
    }  # fmt: skip
    for symbol, extent in extents.items():
        cuts = {extent - extent % step for step in trial.steps if extent % step and extent > step}
        yield from ((symbol, extent, cut) for cut in sorted(cuts, reverse=True))


def cut(trial: Trial, symbol: str, extent: int) -> Arrays:
    """The arrays with less of one extent."""
    return {
        name: array[tuple(slice(extent) if dim == symbol else slice(None) for dim in trial.dims[name])]
        for name, array in trial.arrays.items()
    }


def _outside(question: Question, goal: Array, faithful: bool) -> Verdict | None:
    for number in OUTSIDE:
        if question.trial.over:
            return None
        if _reaches(question, goal, question.trial.arrays, number):
            are = "would be right" if faithful else "are those"
            return Verdict("tail", f"the values {are} if {number} were read outside the tensors")
    return None


def _unread_end(question: Question, goal: Array, faithful: bool) -> Verdict | None:
    """An operand whose end does not matter, as long as a partial tile, along no extent of the output."""
    del goal
    trial = question.trial

    def run(arrays: Arrays) -> Array:
        return trial.run(arrays, faithful)[question.name]

    before = run(trial.arrays)
    if only_nan(before):
        return None
    for name, axis in _float_axes(trial.arrays):
        extent = trial.arrays[name].shape[axis]
        if trial.dims[name][axis] in trial.dims[question.name]:
            continue

        def unread(count: int, name: str = name, axis: int = axis) -> bool:
            if trial.over:
                return False
            changed = _with_end(trial.arrays, name, axis, count)
            return _same(trial.run(changed, faithful)[question.name], before)

        count = _largest(unread, extent)
        if count and count < extent and count in {extent % s for s in trial.steps}:
            words = (
                f"the last {count} of {extent} along axis {axis} of {name}, a partial tile, "
                "have no influence on the result"
            )
            return Verdict("tail", words)
    return None


def _largest(holds: Callable[[int], bool], most: int) -> int:
    """The largest count up to `most` for which something holds that holds for all smaller ones."""
    if not most or not holds(1):
        return 0
    low, high = 1, 2
    while high <= most and holds(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _float_axes(arrays: Arrays) -> Iterator[tuple[str, int]]:
    for name, array in arrays.items():
        if array.dtype.kind not in "iub":
            yield from ((name, axis) for axis in range(array.ndim))


def _with_end(arrays: Arrays, name: str, axis: int, count: int) -> Arrays:
    """The arrays with NaN in the last positions along an axis of one."""
    changed = arrays[name].copy()
    np.moveaxis(changed, axis, 0)[changed.shape[axis] - count :] = np.nan
    return {**arrays, name: changed}


def _same(a: Array, b: Array) -> bool:
    return bool(np.all((a == b) | ((a != a) & (b != b))))


def _changed_operand(question: Question, goal: Array, faithful: bool) -> Verdict | None:
    are = "would be right" if faithful else "are those"
    right = question.trial.right
    for kind, what, arrays in _changes(question.trial.arrays):
        if question.trial.over:
            return None
        if right and not question.differ(question.found, right(arrays)[question.name]).any():
            return Verdict(kind, f"the values are the right ones for {what}")
        if _reaches(question, goal, arrays):
            return Verdict(kind, f"the values {are} with {what}")
    return None


def _influences(question: Question, goal: Array, faithful: bool) -> Verdict | None:
    """A wrong element far from the edges depends on other elements of an operand than it should."""
    del goal
    trial, name = question.trial, question.name
    if trial.right is None:
        return None
    finite = [np.isfinite(np.asarray(a, np.float64)) for a in (question.found, question.right)]
    told = question.wrong & finite[0] & finite[1]
    if not told.any():
        return None  # what is not finite changes with nothing
    index = inmost(told)
    cta = question.writer(index)
    clear = CLEAR * largest(question.right)
    right = trial.right
    used = Influence(trial.arrays, lambda arrays: trial.run(arrays, faithful, cta)[name][index], clear)
    needed = Influence(trial.arrays, lambda arrays: right(arrays)[name][index], clear)

    def over() -> bool:
        return trial.over or used.parts >= MOST_PARTS

    for operand, array in trial.arrays.items():
        if array.dtype.kind in "iub" or not array.size:
            continue
        everything = tuple(map(slice, [0] * array.ndim, array.shape))
        if not used.of(operand, everything) and needed.of(operand, everything):
            return Verdict("wrong operation", f"{operand} has no influence on {name}{list(index)}")
        other = compare_influences(used, needed, operand, array.shape, over)
        found = _index_fault(question, faithful, operand, other, (used, needed))
        if found is not None:
            return replace(found, explanation=f"{name}{list(index)}: {found.explanation}")
        if over():
            return None
    return None


def _index_fault(
    question: Question, faithful: bool, operand: str, other: Other, numbers: tuple[Influence, Influence]
) -> Verdict | None:
    """An element read in excess, by nobody or twice speaks for an index; else a term is left out."""
    if other.extra:
        words = f"computed from {_named(operand, other.extra)}, which the right value is not"
        return Verdict("wrong index", words)
    if other.missing is None:
        return None
    missing = f"{_named(operand, other.missing)} has no influence"
    if _unused(question, faithful, operand, other.missing):
        return Verdict("wrong index", f"{missing}, nor on any other element", certain=False)
    for box in other.shared[:MOST_SLOPES]:
        found, right = (number.slope(operand, box) for number in numbers)
        quotient = found / right if right and np.isfinite([found, right]).all() else 0.0
        times = round(quotient)
        if times > 1 and abs(quotient - times) < TIMES_OFF:
            words = f"{missing}, but {_named(operand, box)} counts {times} times"
            return Verdict("wrong index", words, certain=False)
    return Verdict("wrong operation", missing, certain=False)


def _named(operand: str, box: Box) -> str:
    return f"{operand}{[s.start for s in box]}"


def _unused(question: Question, faithful: bool, operand: str, box: Box) -> bool:
    """Whether a part of an operand does not matter to any result."""
    trial = question.trial
    before = trial.run(trial.arrays, faithful)[question.name]
    return all(
        _same(trial.run(arrays, faithful)[question.name], before)
        for arrays in changes(trial.arrays, operand, box)
    )


def _changes(
    arrays: Arrays,
) -> Iterator[tuple[Literal["wrong index", "wrong operation"], str, Arrays]]:
    """The operands shifted, reversed, transposed and exchanged, one at a time."""
    for name, array in arrays.items():
        for what, changed in _indexed_otherwise(array):
            yield "wrong index", f"{name} {what}", {**arrays, name: changed}
    names = list(arrays)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            a, b = arrays[first], arrays[second]
            if (a.shape, a.dtype) == (b.shape, b.dtype):
                exchanged = {**arrays, first: b.copy(), second: a.copy()}
                yield "wrong operation", f"{first} and {second} exchanged", exchanged


def _indexed_otherwise(array: Array) -> Iterator[tuple[str, Array]]:
    for axis, extent in enumerate(array.shape):
        if extent > 1:
            for by in (1, -1):
                rolled = np.roll(array, by, axis)
                yield f"rolled by {by} along axis {axis}", rolled
                shifted = rolled.copy()
                np.moveaxis(shifted, axis, 0)[0 if by > 0 else -1] = 0
                yield f"shifted by {by} along axis {axis}", shifted
            yield f"reversed along axis {axis}", np.flip(array, axis).copy()
    if array.ndim > 1 and array.shape[-1] == array.shape[-2] > 1:
        yield "transposed", np.swapaxes(array, -1, -2).copy()
