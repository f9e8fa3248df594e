"""One sample of GPU time: cache prepared, inputs put back, calls between two events."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from phobos_nb.cuda.driver import cupy
from phobos_nb.cuda.timing import Work, captured_or_none, on_stream, time_once

SHORTEST_MS = 1.0
"""A warm sample spans calls for about this long at least. What starting it costs, a few microseconds, is
then 0.3 % of it: twins whose samples differ in their number of calls stay within a tie."""

MOST_CALLS = 200
"""Calls in one sample at most."""

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
        """Run once and choose how many calls a sample takes, as one captured graph where that can be."""
        with on_stream(self.stream):
            work()
            once = time_once(work, self.stream)
        wanted = math.ceil(SHORTEST_MS / max(once, 1e-3))
        calls = 1 if self._cold else max(1, min(MOST_CALLS, wanted))
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
