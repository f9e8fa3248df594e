"""What a comparison says of a tensor: its first wrong element, who computed it, the kind of fault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from phobos_nb.simulate.operands import Operand
from phobos_nb.simulate.shared_arrays import indexed
from phobos_nb.simulate.writers import Writer

Kind = Literal["race", "memory", "not written", "tail", "wrong index", "rounding", "wrong operation"]

SHOWN = 6
"""Operands that a difference prints."""


@dataclass(frozen=True)
class Change:
    """A change of the source with which the values are right: `should`, empty for nothing, for `was`."""

    line: int
    was: str
    should: str


@dataclass(frozen=True)
class Verdict:
    """What kind of fault wrong values speak for, and why.

    candidates: changes of the source to look at, the likeliest first. excluded: what has been tried and
    is not the cause. certain: whether the kind was seen or shown by an experiment; otherwise it is what
    is left over. change: the likeliest change that makes the values right.
    """

    kind: Kind
    explanation: str
    candidates: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    certain: bool = True
    change: Change | None = None


@dataclass(frozen=True, repr=False)
class Difference:
    """The first wrong element of a tensor, in row-major order, and what is wrong in general.

    wrong: how many elements differ beyond the tolerance, of `total`; 0 where the values agree and a race
    or a fault was seen all the same. operands: the value that was stored
    there and what it was computed from, where a single launch of a kernel was compared. step: the
    store's number among the accesses, barriers and waits of its CTA, `trace[step]` of `simulate` with
    `ctas=[that one], trace=1`. candidates, excluded, certain, change: as in
    `Verdict`. lines: of the source, where to look.
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
    candidates: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    certain: bool = True
    change: Change | None = None
    lines: tuple[int, ...] = ()

    @property
    def where(self) -> str:
        """The element, as the source writes it."""
        return indexed(self.tensor, self.index)

    @property
    def author(self) -> str:
        """Who stored the element, where in the source, and when."""
        if self.writer is None:
            return "nobody wrote it"
        w = self.writer
        when = "" if self.step is None else f", step {self.step} of its CTA"
        return f"written by CTA {w.cta}, thread {w.thread} (lane {w.lane}) in {w.place}{when}"

    @property
    def verdict(self) -> str:
        """The kind and why; a kind that was not shown is said to be a guess."""
        return f"{self.kind}{'' if self.certain else ' (not shown)'}: {self.explanation}"

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if not self.wrong:
            return f"the values agree on this schedule, but {self.verdict}"
        first = (
            f"{self.where} is {number(self.found)}, wanted {number(self.wanted)}; {self.author}. "
            f"{self.wrong} of {self.total} elements differ. {self.verdict}"
        )
        return "\n".join([first, *self._details()])

    def _details(self) -> Iterator[str]:
        yield from (f"  see {x}" for x in self.candidates)
        if self.excluded:
            yield f"  excluded: {'; '.join(self.excluded)}"
        yield from (f"  {o}" for o in self.operands[:SHOWN])


def number(value: Any) -> str:
    """A value as a person compares it: floats with 8 digits."""
    if value is None or np.asarray(value).dtype.kind in "iub":
        return str(value)
    return f"{float(value):.8g}"


class Differences(list[Difference]):
    """All differences of a call, one per wrong tensor, and remarks; an empty list is agreement.

    remarks: what a reader of an agreement should know, such as rounding beyond the tolerance that f32
    cannot avoid. compared: the names of the tensors that were compared. source: the kernel's text, with
    the number of its first line.
    """

    def __init__(
        self,
        found: Iterable[Difference] = (),
        remarks: Iterable[str] = (),
        compared: Iterable[str] = (),
        source: tuple[str, int] = ("", 1),
    ) -> None:
        super().__init__(found)
        self.remarks = tuple(remarks)
        self.compared = tuple(compared)
        self.source = source

    @property
    def summary(self) -> str:
        """One line: which tensors differ, or that all agree."""
        wrong = [d.tensor for d in self if d.wrong]
        agree = [n for n in self.compared if n not in wrong]
        parts = [f"{', '.join(wrong)} wrong"] if wrong else []
        if agree:
            parts.append(f"{', '.join(agree)} right")
        if self and not wrong:
            kinds = {"race": "a race", "memory": "a fault"}
            parts.append(f"but {' and '.join(kinds.get(d.kind, d.kind) for d in self)} was seen")
        return ", ".join(parts)

    def __repr__(self) -> str:
        return "\n".join([self.summary, *map(str, self), *self.remarks])
