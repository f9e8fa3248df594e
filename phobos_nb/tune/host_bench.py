"""Configurations on the CPU: the NumPy meaning with other tile sizes, timed by the clock."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from phobos_nb.diagnostics import PhobosError
from phobos_nb.tune.bench import Task, Verdict
from phobos_nb.tune.check import complaint, poison
from phobos_nb.tune.compile_job import Compiled, CompileJob, reasons
from phobos_nb.tune.outcome import Failed, Kind
from phobos_nb.tune.snapshot import lay_out


class HostBench:
    """NumPy arrays of its own, laid out like the caller's. There is no cache to flush here."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._arrays = lay_out(task.arrays, np)
        self._kept = {name: self._arrays[name].copy() for name in task.kept}
        self._poisoned = [self._arrays[name] for name in task.poisoned]
        self._calls: dict[str, Callable[[], None]] = {}

    def check(self, name: str, compiled: Compiled) -> Verdict:
        """Run once on poisoned outputs, compare."""
        kernel = self._task.text.kernel().specialize(**compiled.constants)
        call = kernel.bind(
            *self._task.in_order(self._arrays), grid=self._task.grid_of(compiled.constants)
        )
        self._restore()
        for array in self._poisoned:
            poison(array)
        call()
        error, problem = complaint(self._arrays, self._task.expected, self._task.tolerance)
        self._calls[name] = call
        return Verdict(error, problem)

    def time(self, name: str, samples: int) -> tuple[float, ...]:
        """Wall-clock time of single calls."""
        found: list[float] = []
        for _ in range(samples):
            self._restore()
            start = time.perf_counter()
            self._calls[name]()
            found.append((time.perf_counter() - start) * 1e3)
        return tuple(found)

    def drop(self, name: str) -> None:
        """Forget a configuration."""
        self._calls.pop(name, None)

    def _restore(self) -> None:
        for name, values in self._kept.items():
            self._arrays[name][...] = values


def host_job(job: CompileJob) -> Compiled | Failed:
    """What there is to do ahead for the CPU: checking the constants."""
    try:
        job.text.kernel().specialize(**job.constants)
    except PhobosError as error:
        return Failed(job.constants, Kind.CONSTRAINT, reasons(error))
    return Compiled(job.constants)
