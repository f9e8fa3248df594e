"""Planted faults for searches on a GPU, importable by worker processes; the fault goes by TILE."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace

from phobos_nb.cuda import nvrtc
from phobos_nb.tune.bench import Task, Verdict
from phobos_nb.tune.check import complaint, poison
from phobos_nb.tune.compile_job import Compiled, CompileJob, compile_job
from phobos_nb.tune.device_bench import DeviceBench
from phobos_nb.tune.outcome import Failed

BAD_COMPILE, HANG, ABORT, NAN, SHORT = 64, 128, 256, 512, 1024
"""Values of TILE with a fault; every other one is good."""


def faulty_job(job: CompileJob) -> Compiled | Failed:
    """The real job, but for one configuration NVRTC is given what is no CUDA."""
    if job.constants["TILE"] == BAD_COMPILE:
        nvrtc.compile("no CUDA at all", str(job.text.options.chip))
    return compile_job(job)


class FaultyBench(DeviceBench):
    """The real bench with one fault for each of several configurations."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._whole = task

    def check(self, name: str, compiled: Compiled) -> Verdict:
        """Hang, abort, leave NaN, or leave the last CTA out."""
        tile = compiled.constants["TILE"]
        if tile == HANG:
            time.sleep(3600)
        if tile == ABORT:
            os.kill(os.getpid(), signal.SIGABRT)
        self._task = self._whole
        if tile == SHORT:
            (size,) = {a.values.shape[0] for a in self._whole.arrays.values()}
            self._task = replace(self._whole, grid=(size // tile - 1, 1, 1))
        verdict = super().check(name, compiled)
        if tile == NAN:
            for array in self._poisoned:
                poison(array)
            return Verdict(*complaint(self._arrays, self._expected, self._whole.tolerance))
        return verdict

    def time(self, name: str, samples: int) -> tuple[float, ...]:
        """The wrong one would be fastest by far."""
        found = super().time(name, samples)
        return tuple(t / 1000 for t in found) if name == f"TILE={NAN}" else found
