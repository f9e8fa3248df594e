"""Jobs and benches with planted faults, importable by worker processes."""

from __future__ import annotations

import math
import os
import signal
import time
from typing import Any

from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.tune.bench import Task, Verdict
from phobos_nb.tune.compile_job import Compiled
from phobos_nb.tune.host_bench import HostBench
from phobos_nb.tune.outcome import Constants, Failed
from phobos_nb.tune.pool import Caller


def add(a: int, b: int) -> int:
    """A job that does no harm."""
    return a + b


def raise_error(text: str) -> None:
    """A job that raises."""
    raise ValueError(text)


def hang() -> None:
    """A job that never ends."""
    while True:
        time.sleep(1)


def abort() -> None:
    """A job that takes its process down, as LLVM does."""
    os.kill(os.getpid(), signal.SIGABRT)


def compile_or_fail(constants: Constants) -> Compiled | Failed:
    """TILE=2 is refused by the compiler, TILE=3 never ends, TILE=4 aborts."""
    tile = constants["TILE"]
    if tile == 2:
        raise PhobosError([Diagnostic("PH600", "refused", stage="nvrtc")])
    {3: hang, 4: abort}.get(tile, lambda: None)()
    return Compiled(constants)


class TaskCaller(Caller):
    """Calls functions it is sent, and is made like a bench."""

    def __init__(self, task: str) -> None:
        self.task = task


class FaultyBench:
    """TILE=5 hangs when checked, 6 aborts, 7 leaves NaN, 8 raises; 9 and 11 abort when timed."""

    def check(self, name: str, compiled: Compiled) -> Verdict:
        """The planted fault, or a good answer."""
        tile = compiled.constants["TILE"]
        {5: hang, 6: abort, 8: lambda: raise_error("no launch")}.get(tile, lambda: None)()
        return (
            Verdict(math.inf, "1 of 8 elements are NaN, or were never written")
            if tile == 7
            else Verdict(0)
        )

    def time(self, name: str, samples: int) -> tuple[float, ...]:
        """Larger tiles are faster, TILE=7 would be fastest by far."""
        tile = int(name.rpartition("=")[2])
        if tile in (9, 11):
            abort()
        return (0.001 if tile == 7 else 1.0 / tile,) * samples

    def drop(self, name: str) -> None:
        """Nothing is held."""


class ShortGrid(HostBench):
    """Calls with TILE=16 leave the last CTA out."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._whole = task

    def check(self, name: str, compiled: Compiled) -> Verdict:
        """The real check on a grid that is one block short."""
        if compiled.constants["TILE"] == 16:
            from dataclasses import replace

            (x,) = {a.values.shape[0] for a in self._whole.arrays.values()}
            self._task = replace(self._whole, grid=(x // 16 - 1, 1, 1))
        else:
            self._task = self._whole
        return super().check(name, compiled)


def job(constants: Constants) -> Any:
    """What `LiveRunner` hands to an executor."""
    return compile_or_fail, constants
