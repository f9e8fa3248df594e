"""What a search is asked to do."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.tune.reference import Reference
from phobos_nb.tune.search import Listener, Plan
from phobos_nb.tune.settings_check import check_options

if TYPE_CHECKING:
    from phobos_nb.tune.devices import Devices

Shape = Mapping[str, Any] | Sequence[Any]
"""Extents by symbol, with scalars and arrays by name if need be; or a call's arguments in order."""


@dataclass(frozen=True)
class Settings:
    """The options of a search; give them by name to `Kernel.tune`.

    choices: name -> values, instead of the kernel's own or for the compiler's choices (STAGES, ...).
    strategy: "exhaustive", "guided", "random", "halving" or "optuna".
    seconds, trials: the budget, in wall-clock time or configurations; None for no limit.
    samples: timed calls of a first look. finalists, rounds: of the second stage.
    cache: "warm", or "cold" for an L2 cache flushed before every timed call.
    reference: outputs by name, or a function of the arguments (copies) that returns them; by default
    the kernel's NumPy meaning. meaning_seconds: how long that may take; beyond it, only some CTAs.
    tolerance: of the relative error; None to derive it from the dtypes.
    against: "cublas" or functions by name that do the same to the same arrays (copies); timed in the
    same rounds.
    executor: where to compile, any `concurrent.futures` executor; workers: how many processes without
    one, None for one per core. timeout, compile_timeout: seconds for a configuration to run, to compile.
    devices: measure on several of the arrays' model at once: "all" GPUs here, ordinals, or a Dask client
    whose workers have one each.
    isolate: measure in a process of its own, so that a hang or a crash does no harm.
    remember: keep the record and let later calls use its winner. resume: go on from an earlier record.
    listener: called with every `search.Event`, in place of the progress display. stop: ends the search
    once another thread sets it.
    shapes, weights, max_configs: several shapes in place of one call, see `shapes.tune_shapes`. on:
    where arrays are made for extents, "gpu" or "cpu"; None for the GPU where there is one.
    """

    choices: Mapping[str, int | Sequence[int]] = field(default_factory=dict[str, "int | Sequence[int]"])
    strategy: str = "exhaustive"
    seconds: float | None = None
    trials: int | None = None
    samples: int = 5
    finalists: int = 8
    rounds: int = 25
    seed: int = 0
    cache: Literal["warm", "cold"] = "warm"
    reference: Reference | None = None
    meaning_seconds: float = 5.0
    tolerance: float | None = None
    against: str | Mapping[str, Callable[[], object]] | None = None
    executor: Executor | None = None
    workers: int | None = None
    timeout: float = 30.0
    compile_timeout: float = 120.0
    devices: Devices | None = None
    isolate: bool = True
    remember: bool = True
    resume: bool = True
    listener: Listener | None = None
    stop: threading.Event | None = None
    shapes: Sequence[Shape] | None = None
    weights: Sequence[float] | None = None
    max_configs: int = 4
    on: Literal["gpu", "cpu"] | None = None

    def __post_init__(self) -> None:
        if self.cache not in ("warm", "cold"):
            raise _wrong(f"cache: wanted 'warm' or 'cold', got {self.cache!r}")
        if self.on not in ("gpu", "cpu", None):
            raise _wrong(f"on: wanted 'gpu' or 'cpu', got {self.on!r}")
        for name in ("samples", "rounds", "finalists", "max_configs"):
            if getattr(self, name) < 1:
                raise _wrong(f"{name}: wanted at least 1, got {getattr(self, name)}")

        if self.devices is not None and not self.isolate:
            raise _wrong("devices: each needs a process of its own, which isolate=False takes away")

    @property
    def plan(self) -> Plan:
        """The part that the search itself reads."""
        return Plan(self.seconds, self.trials, self.finalists, self.rounds, self.seed)

    @property
    def width(self) -> int:
        """How many configurations are compiled at once."""
        if self.workers is not None:
            return max(1, self.workers)
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1


def split(named: Mapping[str, Any], parameters: Sequence[str]) -> tuple[Settings, dict[str, Any]]:
    """Options and kernel arguments; a name that is both is the kernel's.

    Names that are neither are left among the arguments, whose check then reports them. Raises
    `PhobosError` PH402 for an option whose value cannot be.
    """
    options = {f.name for f in fields(Settings)} - set(parameters)
    chosen = {n: v for n, v in named.items() if n in options}
    check_options(chosen)
    return Settings(**chosen), {n: v for n, v in named.items() if n not in options}


def _wrong(message: str) -> PhobosError:
    return PhobosError([Diagnostic("PH402", message, stage="tune")])
