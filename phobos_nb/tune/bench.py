"""What every place that runs and times configurations offers, and the task it is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from phobos_nb.arguments.grid import Grid
from phobos_nb.contract import Parameter, ScalarParameter, TensorParameter
from phobos_nb.tune.check import Expected
from phobos_nb.tune.compile_job import Compiled, KernelText
from phobos_nb.tune.outcome import Constants, label
from phobos_nb.tune.snapshot import Snapshot


@dataclass(frozen=True)
class Task:
    """A call to be tuned, as plain data. grid: the caller's, None to infer it. grids: by label, where it
    depends on the configuration.

    expected: by output; tolerance: see `check`. cold: whether the L2 cache is flushed before each
    timed call. device: GPU ordinal.
    """

    text: KernelText
    parameters: tuple[Parameter, ...]
    arrays: Mapping[str, Snapshot]
    scalars: Mapping[str, Any]
    expected: Mapping[str, Expected]
    tolerance: float
    grid: tuple[int, int, int] | None = None
    cold: bool = False
    device: int = 0
    extents: Mapping[str, int] = field(default_factory=dict[str, int])
    grids: Mapping[str, Grid] = field(default_factory=dict[str, Grid])

    @property
    def outputs(self) -> tuple[TensorParameter, ...]:
        """The tensors that the kernel writes."""
        return tuple(p for p in self.parameters if isinstance(p, TensorParameter) and p.writes)

    @property
    def kept(self) -> tuple[str, ...]:
        """Outputs whose values a call reads, directly or under another name: put back before a call."""
        return tuple(p.name for p in self.outputs if p.reads or self._is_shared(p.name))

    @property
    def poisoned(self) -> tuple[str, ...]:
        """Outputs that a call must fill: poisoned before it is checked."""
        return tuple(p.name for p in self.outputs if p.name not in self.kept)

    def grid_of(self, constants: Constants) -> Grid | None:
        """The grid of a configuration, None to infer it."""
        return self.grids.get(label(constants), self.grid)

    def _is_shared(self, name: str) -> bool:
        return bool(self.arrays[name].same_as) or any(a.same_as == name for a in self.arrays.values())

    def in_order(self, arrays: Mapping[str, Any]) -> list[Any]:
        """Arrays and scalars in the order of the signature."""
        return [
            self.scalars[p.name] if isinstance(p, ScalarParameter) else arrays[p.name]
            for p in self.parameters
        ]


@dataclass(frozen=True)
class Verdict:
    """What one run on poisoned outputs gave: the relative error, and what is wrong, empty if nothing."""

    error: float
    complaint: str = ""


class Bench(Protocol):
    """Runs configurations on arrays of its own. Faults of a launch are raised."""

    def check(self, name: str, compiled: Compiled) -> Verdict:
        """Load a configuration under a name, run it once and look at its outputs."""
        ...

    def time(self, name: str, samples: int) -> tuple[float, ...]:
        """Milliseconds per call of a loaded configuration."""
        ...

    def drop(self, name: str) -> None:
        """Forget a configuration."""
        ...
