"""Times of slid configurations on the GPU: checked like a search's, in a process of its own."""

from __future__ import annotations

import logging
import statistics
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from phobos_nb.diagnostics import PhobosError
from phobos_nb.tune.autotune import Session
from phobos_nb.tune.compile_job import Compiled
from phobos_nb.tune.gemm_peers import recognise
from phobos_nb.tune.outcome import Failed
from phobos_nb.tune.pool import Caller
from phobos_nb.tune.runner import LiveRunner
from phobos_nb.tune.settings import Settings
from phobos_nb.tune.snapshot import take
from phobos_nb.tune.statistics import estimate
from phobos_nb.tune.worker import RemoteError, Worker, WorkerCrashError, WorkerTimeoutError
from phobos_nb.views.roofline_of import Looked
from phobos_nb.views.roofline_probe import measured_on
from phobos_nb.views.roofline_roofs import Roofs
from phobos_nb.views.sliders import Timing

LOG = logging.getLogger("phobos_nb")

ROOF_SECONDS = 60.0
"""The longest that measuring the roofs may take."""

SAMPLES = 15
"""Timed calls of a configuration, and of each peer."""

Against = str | Mapping[str, Callable[[], object]] | None


class Stopwatch:
    """Checks and times configurations of one call; a hang or a crash there does no harm.

    against: peers as of `tune`; by default cuBLAS for a kernel with a GEMM's signature.
    """

    def __init__(self, looked: Looked, against: Against) -> None:
        usual = "cublas" if recognise(looked.call.typed) is not None else None
        self._settings = Settings(against=against or usual, remember=False, resume=False)
        self._looked = looked
        self._runner: LiveRunner | None = None
        self._peers: dict[str, float] = {}

    def time(self, compiled: Compiled) -> Timing:
        """Run once, check the answer, time it; a wrong answer or a fault has no time but a reason."""
        try:
            outcome = self._ready().measure(compiled, SAMPLES)
        except PhobosError as error:
            return Timing(missing=str(error))
        if isinstance(outcome, Failed):
            return Timing(missing=f"not timed, {outcome.kind.value}: {outcome.reason}")
        found = estimate(outcome.times)
        return Timing(found.median, found.low, found.high, self._peers)

    def _ready(self) -> LiveRunner:
        """References, the bench and the peers' times, made by the first call."""
        if self._runner is None:
            looked = self._looked
            session = Session(looked.kernel, looked.values, looked.grid, self._settings)
            arrays: Any = take(session.call.arrays, session.values, session.place.to_host)
            task = session.task(arrays, session.references(arrays))
            bench = Worker(session.place.bench, task)
            nothing = ThreadPoolExecutor(1)  # configurations come compiled
            runner = LiveRunner(nothing, 1, session.job, bench, self._settings.timeout)
            self._peers = {
                name: statistics.median(peer.time() for _ in range(SAMPLES))
                for name, peer in session.peers().items()
            }
            self._runner = runner
        return self._runner

    def roofs(self) -> Roofs | None:
        """The GPU's measured roofs, measured in another process if need be; None where that failed."""
        worker = Worker(Caller, timeout=ROOF_SECONDS)
        known = self._looked.target, self._looked.place.ordinal
        try:
            return worker.call("run", measured_on, known, {})
        except (RemoteError, WorkerTimeoutError, WorkerCrashError) as error:
            LOG.warning("roofs were not measured: %s", error)
            return None
        finally:
            worker.close()

    def close(self) -> None:
        """End the bench's process; the next time starts another."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None
