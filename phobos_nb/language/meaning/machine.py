"""One CTA of the meaning: who it is, what its threads hold, which of them are active.

A per-thread value is an array [threads], or 0-d where all threads share it; a tile is an array of the
tile's shape. `active` is None while all threads run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.language.meaning.loops import Loop
from phobos_nb.language.meaning.memory import Memory
from phobos_nb.language.registry import Builtins
from phobos_nb.language.typed import SharedArray, Tensor, Variable
from phobos_nb.source import Source, Span

Array = NDArray[Any]


@dataclass(frozen=True)
class Launch:
    """What all CTAs of a run share.

    rounding: f32 operands of `dot` are rounded to f16, as on the tensor cores. outside: what float tiles
    read outside their tensors, in place of what the program says. deadline: the time, by
    `time.perf_counter`, from which a loop is not gone on with.
    """

    builtins: Builtins
    source: Source
    threads: int
    grid: tuple[int, int, int]
    tensors: Mapping[Tensor, Memory]
    extents: Mapping[str, int]
    scalars: Mapping[str, Any]
    rounding: bool
    outside: float | None = None
    deadline: float | None = None


@dataclass(frozen=True)
class Printed:
    """One line that a kernel printed: by which CTA and thread, and as the how manieth of the CTA."""

    block: tuple[int, int, int]
    thread: int
    sequence: int
    text: str


@dataclass
class Machine:
    """The state of one CTA."""

    launch: Launch
    block: tuple[int, int, int]
    shared: Mapping[SharedArray, Memory]
    variables: dict[Variable, Any] = field(default_factory=dict[Variable, Any])
    printed: list[Printed] = field(default_factory=list[Printed])
    loops: list[Loop] = field(default_factory=list[Loop])
    active: Array | None = None
    halted: bool = False
    partial: bool = False

    @property
    def threads(self) -> int:
        """How many threads run the body."""
        return self.launch.threads

    @property
    def rounding(self) -> bool:
        """Whether `dot` rounds f32 operands to f16."""
        return self.launch.rounding

    def active_mask(self) -> Array:
        """Which threads are active: [threads] bool."""
        return np.ones(self.threads, bool) if self.active is None else self.active

    def activate(self, mask: Array | None) -> None:
        """Go on with these threads; `halted` says that there is none."""
        everyone = mask is None or bool(mask.all())
        self.active = None if everyone else mask
        self.halted = not everyone and mask is not None and not mask.any()

    def any_active(self, values: Array) -> bool:
        """Whether a per-thread bool holds in an active thread."""
        if values.ndim == 0 or self.active is None:
            return bool(values.any()) and not self.halted
        return bool((values & self.active).any())

    def first(self, values: Array) -> int:
        """The first active thread in which a per-thread bool holds; one does, see `any_active`."""
        return int(np.argmax(values & self.active_mask()))

    def one(self, value: Array) -> Any:
        """The value that all active threads share, as a Python scalar."""
        if value.ndim == 0:
            return value.item()
        return value[0 if self.active is None else int(np.argmax(self.active))].item()

    def memory(self, base: Tensor | SharedArray) -> Memory:
        """The array behind a tensor parameter or a shared declaration."""
        return self.launch.tensors[base] if isinstance(base, Tensor) else self.shared[base]

    def fail(self, code: str, message: str, span: Span, help: str = "") -> NoReturn:
        """Raise a run-time fault of the program at its line."""
        place = f"{message}, in CTA {self.block}"
        raise PhobosError(
            [Diagnostic(code, place, span, stage="meaning", help=help)], self.launch.source
        )
