"""Which single change of the source gives the right values.

Where the source means the wrong values, the fault stands in it, and nearly always it is one slip. Every
small change of the text (`phobos_nb.language.slips`) is made and what it means is run: first the CTA of
one wrong element, then, for the few that get that right, all of them. What is said of such a change is
what was seen: with it the values are right.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from phobos_nb.diagnostics import PhobosError
from phobos_nb.language.slips import Role, Slip
from phobos_nb.simulate.difference import Change
from phobos_nb.simulate.tolerance import wrong_elements
from phobos_nb.simulate.trial import Array, Arrays, Cta, Meaning, Question, Text, UnknownRight

SEARCH = 6.0
"""Seconds of this thread for the search."""
AFTER = 100
"""Further changes that are tried once one is found."""
LONG = 20
"""A change is given up when it runs so many times longer than the kernel."""
SLACK = 0.05
"""Seconds that any change may run."""
BETTER = 0.25
"""A change that makes this part of the elements right is told where none makes all right."""
ENOUGH = 4
"""Changes that are told of one fault."""

REFUSED = (PhobosError, ValueError, TimeoutError, ArithmeticError, MemoryError, IndexError)
"""What running a changed kernel may end with."""


@dataclass(frozen=True)
class Mend:
    """A change that makes a wrong output right, at a line of the source."""

    slip: Slip
    line: int
    meaning: Meaning

    @property
    def words(self) -> str:
        """The change as a person says it."""
        return f"line {self.line}: right {self.slip.words}"

    @property
    def change(self) -> Change:
        """The change as texts."""
        return Change(self.line, self.slip.was, self.slip.should)


@dataclass
class Search:
    """What a search has found. tried: changes that could be run, of `total` that were made."""

    mends: list[Mend] = field(default_factory=list[Mend])
    tried: int = 0
    total: int = 0
    whole: bool = True
    better: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])

    @property
    def partial(self) -> list[str]:
        """The changes that make most of the wrong elements right, in words."""
        best = sorted(self.better, key=lambda pair: -pair[0])[:3]
        return [f"{words} (makes {part:.0%} of the elements looked at right)" for part, words in best]


@dataclass(frozen=True)
class Sieve:
    """Elements that one CTA writes, to try a change on; of all CTAs if `cta` is None.

    now: the part of them that is right without a change.
    """

    cta: Cta | None
    places: tuple[NDArray[np.intp], ...]
    right: Array
    allowed: Array
    now: float

    def right_part(self, output: Array) -> float:
        """The part of the elements that is right: 1 if all are."""
        return float((~wrong_elements(output[self.places], self.right, self.allowed)).mean())


def search(
    question: Question,
    roles: Collection[Role] = (),
    lines: Collection[int] = (),
    proven: Callable[[Mend], bool] | None = None,
) -> Search:
    """Try all slips of the source, or those of some roles or lines, the likeliest first, as time allows.

    proven: what more a change has to do; the first that does it ends the search. Stores race: of changes
    as likely, one of where is written comes first then, for what is written may but look alike.
    """
    text, found = question.trial.text, Search()
    if text is None:
        return found
    sieve, seconds = _sieve(question)
    chosen = (slip for slip in text.slips() if not roles or slip.role in roles)
    there = (slip for slip in chosen if not lines or text.line(slip) in lines)
    slips = sorted(there, key=lambda slip: (slip.cost, proven is not None and not slip.target))
    found.total = len(slips)
    enough = ENOUGH if proven is None else 1
    end, last = time.thread_time() + SEARCH, len(slips)
    for number, slip in enumerate(slips):
        if time.thread_time() > end or number > last or len(found.mends) >= enough:
            found.whole = False
            break
        if number % 64 == 0:
            question.trial.show(f"{number:,} of {len(slips):,} single changes of the source tried")
        mend = _tried(question, text, slip, sieve, seconds, found)
        if mend is not None and (proven is None or proven(mend)):
            found.mends.append(mend)
            last = min(last, number + AFTER)
    return found


def _tried(
    question: Question, text: Text, slip: Slip, sieve: Sieve, seconds: float, found: Search
) -> Mend | None:
    meaning = text.changed(slip)
    if meaning is None:
        return None
    found.tried += 1
    arrays = question.trial.arrays
    try:
        part = sieve.right_part(meaning(arrays, sieve.cta, None, seconds)[question.name])
        if part < 1.0:
            if part > sieve.now + BETTER:
                found.better.append((part, f"line {text.line(slip)}: {slip.words}"))
            return None
        outputs = meaning(arrays, None, None, None)
        right = mended(question, outputs) and _right_elsewhere(question, meaning)
    except REFUSED:
        return None
    return Mend(slip, text.line(slip), meaning) if right else None


def mended(question: Question, outputs: Arrays) -> bool:
    """Whether the wrong output has become right, and no other one wrong."""
    standard = question.standard
    if standard.wrong(question.name, outputs[question.name]).any():
        return False
    for name in standard.right:
        before = int(standard.wrong(name, question.outputs[name]).sum())
        if int(standard.wrong(name, outputs[name]).sum()) > before:
            return False
    return True


def _right_elsewhere(question: Question, meaning: Meaning) -> bool:
    """Whether the change is right for other numbers too, where their right answer is known."""
    right = question.trial.right
    if right is None:
        return True
    for arrays in _other_numbers(question.trial.arrays):
        try:
            wanted = right(arrays)[question.name]
        except UnknownRight:
            continue
        found = meaning(arrays, None, None, None)[question.name]
        if question.standard.differ_anywhere(question.name, found, np.asarray(wanted)):
            return False
    return True


def _other_numbers(arrays: Arrays) -> Iterator[Arrays]:
    """The arrays of floats in another order: numbers of the same kind elsewhere."""
    rng = np.random.default_rng(1)

    def shuffled(array: Array) -> Array:
        return rng.permutation(array.ravel()).reshape(array.shape)

    yield {n: array if array.dtype.kind in "iub" else shuffled(array) for n, array in arrays.items()}


def _sieve(question: Question) -> tuple[Sieve, float]:
    """The elements of one CTA that has wrong ones, and how long a change may run on it.

    All of them where a CTA alone computes something else, since it reads what others write, and where
    CTAs add up with atomics, since with a change others may add to the same.
    """
    wrong = question.wrong
    index = inmost(wrong)
    cta = question.writer(index)
    text = question.trial.text
    meaning = None if text is None else text.changed(None)
    begun = time.perf_counter()
    places = np.nonzero(np.ones_like(wrong))
    if text is not None and text.atomic:
        cta = None
    if cta is not None and meaning is not None:
        alone = meaning(question.trial.arrays, cta, None, None)[question.name]
        there = _bits_differ(alone, question.trial.arrays[question.name])
        if there[index] and not question.differ(alone, question.found)[there].any():
            places = np.nonzero(there)
        else:
            cta = None
    if cta is None and meaning is not None:
        meaning(question.trial.arrays, None, None, None)
    seconds = SLACK + LONG * (time.perf_counter() - begun)
    allowed = question.standard.allowed(question.name, question.found)
    now = 1.0 - float(wrong[places].mean())
    return Sieve(cta, places, question.right[places], allowed[places], now), seconds


def _bits_differ(a: Array, b: Array) -> NDArray[np.bool_]:
    size = a.dtype.itemsize
    raw = [np.ascontiguousarray(x).view(np.uint8).reshape(*x.shape, size) for x in (a, b)]
    return np.asarray((raw[0] != raw[1]).any(axis=-1))


def inmost(wrong: NDArray[np.bool_]) -> tuple[int, ...]:
    """The wrong element nearest to the middle."""
    places = np.argwhere(wrong)
    extents = np.array(wrong.shape)
    nearest = np.abs((places + 0.5) / extents - 0.5).max(axis=1).argmin()
    return tuple(int(i) for i in places[nearest])
