"""A call that can be made again: what experiments on wrong results are made with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from phobos_nb.language.slips import Slip
from phobos_nb.simulate.tolerance import Standard

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Cta = tuple[int, int, int]

SECONDS = 8.0
"""Of this thread's time; no further experiment is begun after it."""
MENDED = 0.1
"""A change of the arrays explains the fault when at most this part of the wrong elements stays wrong."""
SOON = 1.0
"""Seconds without a word; then what is being tried is shown."""


class UnknownRight(Exception):
    """The caller's reference does not take such arrays."""


class Meaning(Protocol):
    """What a text means: the outputs for arrays by name.

    cta: of one CTA only. grid: another one than the call's. seconds: `TimeoutError` after these. Raises
    `PhobosError` for the program's own faults, such as a division by zero.
    """

    def __call__(
        self,
        arrays: Arrays,
        cta: Cta | None = None,
        grid: Cta | None = None,
        seconds: float | None = None,
    ) -> Arrays:
        """Run it."""
        ...


class Text(Protocol):
    """The kernel's source, to be changed and run."""

    @property
    def grid(self) -> Cta:
        """The call's."""
        ...

    @property
    def full(self) -> Cta | None:
        """The grid that the stores of the source ask for, None where they do not tell."""
        ...

    @property
    def atomic(self) -> bool:
        """Whether CTAs add to what others have added to."""
        ...

    def slips(self) -> Iterator[Slip]:
        """Every small change of the source."""
        ...

    def line(self, slip: Slip) -> int:
        """The line of a change, as the reader numbers them."""
        ...

    def changed(self, slip: Slip | None) -> Meaning | None:
        """What the source with a change means; None where it does not type-check."""
        ...

    def clean(self, slip: Slip, arrays: Arrays) -> Arrays | None:
        """The outputs of the changed kernel, compiled; None where it races, faults or is refused."""
        ...

    @property
    def narrow(self) -> tuple[str, float] | None:
        """The narrowest float type that the source uses, if narrower than f32, and its unit roundoff."""
        ...

    def floats(self, dtype: str) -> Meaning | None:
        """What the source means when all of its floats are of one type; None where that cannot be."""
        ...


@dataclass(frozen=True)
class Trial:
    """A call that can be made again. Both functions take arrays by name and return the outputs.

    simulated: through the compiled kernel. meant: what the source means, float tiles reading the given
    number outside their tensors unless it is None; both of all CTAs or of one. right: the right outputs,
    where they are known for other arrays too. dims: the extents of each array, symbols by name. steps:
    widths of tiles, what an extent may leave a part of. text: the source itself. say: shows what is
    being done.
    """

    arrays: Arrays
    simulated: Callable[[Arrays, Cta | None], Arrays]
    meant: Callable[[Arrays, float | None, Cta | None], Arrays]
    right: Callable[[Arrays], Arrays] | None
    dims: Mapping[str, tuple[int | str, ...]]
    steps: frozenset[int]
    text: Text | None = None
    say: Callable[[str], None] | None = None
    begun: float = field(default_factory=time.thread_time)
    started: float = field(default_factory=time.perf_counter)

    def run(self, arrays: Arrays, faithful: bool, cta: Cta | None = None) -> Arrays:
        """The kernel's outputs, by its meaning where that is known to be the same."""
        return self.meant(arrays, None, cta) if faithful else self.simulated(arrays, cta)

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.thread_time() - self.begun > SECONDS

    def show(self, what: str) -> None:
        """Say what is tried, if that takes long."""
        if self.say is not None and time.perf_counter() - self.started > SOON:
            self.say(what)


@dataclass(frozen=True)
class Question:
    """The wrong output, and what is right.

    outputs: all of the call. writer: the CTA that wrote an element.
    """

    trial: Trial
    name: str
    outputs: Arrays
    standard: Standard
    writer: Callable[[tuple[int, ...]], Cta | None]

    @property
    def found(self) -> Array:
        """The wrong output."""
        return self.outputs[self.name]

    @property
    def right(self) -> Array:
        """What it should be."""
        return self.standard.right[self.name]

    def differ(self, output: Array, right: Array) -> NDArray[np.bool_]:
        """Which elements of an answer differ from other ones, by the tolerance of the call."""
        return self.standard.differ(self.name, output, right)

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Which elements are wrong."""
        return self.differ(self.found, self.right)

    @cached_property
    def meant(self) -> Array:
        """The output as the source means it, run once."""
        return self.trial.meant(self.trial.arrays, None, None)[self.name]

    def faithful(self) -> bool:
        """Whether the wrong values are what the source means, so that the fault is in the source.

        But for a few of many: a sum in another order may round the other way.
        """
        return int(self.differ(self.meant, self.found).sum()) <= MENDED * int(self.wrong.sum())
