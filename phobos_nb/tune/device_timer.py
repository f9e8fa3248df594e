"""One sample of GPU time: cache prepared, inputs put back, calls between two events."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from phobos_nb.cuda.driver import cupy
from phobos_nb.cuda.timing import Work, captured_or_none, on_stream, time_once

SHORTEST_MS = 2.0
"""A warm sample spans calls for about this long. What starting one takes differs between graphs of the
same calls by 1 to 4 microseconds for as long as they live (H200: of four copies of a kernel of 7.4 us
the slowest was 0.4 % behind in samples of 0.4 ms, 0.3 % in 1 ms, 0.1 % in 4 ms)."""

MOST_CALLS = 1000
"""Calls in one sample at most: such a graph is captured in some milliseconds."""

FLUSH_FACTOR = 2
"""Bytes written to flush the L2 cache, in cache sizes."""


@dataclass(frozen=True)
class Timed:
    """Work made ready: `run` makes `calls` calls of it on the timer's stream."""

    run: Work
    calls: int


class DeviceTimer:
    """Samples on a stream of its own; cold: the L2 cache is flushed before each, outside the events."""

    def __init__(self, device: int, cold: bool) -> None:
        module = cupy()
        self.stream: Any = module.cuda.Stream(non_blocking=True)
        self._cold = cold
        size = module.cuda.Device(device).attributes["L2CacheSize"] if cold else 0
        self._flush = module.empty(FLUSH_FACTOR * size, "uint8")

    def prepare(self, work: Work) -> Timed:
        """Run and choose how many calls a sample takes, as one captured graph where that can be.

        A single call is timed with what starting it takes, several times a short kernel's own time: so
        the number is chosen again by the time of a first sample.
        """
        with on_stream(self.stream):
            work()
            found = self._repeated(work, self._calls(time_once(work, self.stream)))
            if found.calls == 1:
                return found
            found.run()
            better = self._calls(time_once(found.run, self.stream) / found.calls)
        return self._repeated(work, better) if better > found.calls else found

    def _calls(self, ms: float) -> int:
        """How many calls of that long make a sample."""
        return 1 if self._cold else max(1, min(MOST_CALLS, math.ceil(SHORTEST_MS / max(ms, 1e-3))))

    def _repeated(self, work: Work, calls: int) -> Timed:
        graph = captured_or_none(work, self.stream, calls)
        if graph is None:
            return Timed(lambda: [work() for _ in range(calls)], calls)
        graph.upload(self.stream)
        return Timed(lambda: graph.launch(self.stream), calls)

    def sample(self, timed: Timed, restore: Callable[[], None]) -> float:
        """Milliseconds per call; `restore` puts in-place outputs back before."""
        with on_stream(self.stream):
            restore()
            if self._cold:
                self._flush.fill(1)
            elif timed.calls > 1:
                timed.run()
            return time_once(timed.run, self.stream) / timed.calls
