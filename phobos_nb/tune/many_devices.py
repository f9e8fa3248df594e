"""One search on several devices of a model: each configuration is measured on the next idle one."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from phobos_nb.tune.compile_job import Compiled
from phobos_nb.tune.finals import Peer, Place
from phobos_nb.tune.outcome import Constants, Failed, Measured, label
from phobos_nb.tune.runner import LiveRunner


class ManyDevices:
    """A runner over one runner per device; they share an executor and what it compiled.

    First times of two devices may differ by what the devices do; the finals, whose rounds are compared
    device by device, decide. peers: device, by number, -> what can be timed beside the finalists there;
    the first device is asked at once, the others while the first stage runs.
    """

    def __init__(
        self, runners: Sequence[LiveRunner], peers: Callable[[int], Mapping[str, Peer]]
    ) -> None:
        self.width = runners[0].width + len(runners)
        self._runners = tuple(runners)
        # One thread that outlives its work: cuBLAS handles that CuPy makes in a thread end with it.
        self._later = ThreadPoolExecutor(1)
        self._first_peers = peers(0)
        self._other_peers = [self._later.submit(peers, i) for i in range(1, len(runners))]
        self._locks = [threading.Lock() for _ in runners]
        self._idle: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._home: dict[str, int] = {}
        self._threads = ThreadPoolExecutor(len(runners))
        for number in range(len(runners)):
            self._idle.put(number)

    def start(self, constants: Constants) -> Future[Compiled | Failed]:
        """Begin to compile; any device runs the result."""
        return self._runners[0].start(constants)

    def begin(self, compiled: Compiled, samples: int) -> Future[Measured | Failed]:
        """Measure on the next idle device."""
        return self._threads.submit(self.measure, compiled, samples)

    def measure(self, compiled: Compiled, samples: int) -> Measured | Failed:
        """Run once, check the answer, take the first times, on an idle device."""
        number = self._idle.get()
        self._home[label(compiled.constants)] = number
        try:
            with self._locks[number]:
                return self._runners[number].measure(compiled, samples)
        finally:
            self._idle.put(number)

    def time(self, constants: Constants, samples: int) -> tuple[float, ...] | Failed:
        """More first times, on the device that took the first ones."""
        number = self._home.get(label(constants), 0)
        with self._locks[number]:
            return self._runners[number].time(constants, samples)

    def places(self) -> list[Place]:
        """Where finals can be: the devices that have all peers."""
        found = [self._first_peers, *(later.result() for later in self._other_peers)]
        most = max(map(len, found))
        return [Place(r, p) for r, p in zip(self._runners, found, strict=True) if len(p) == most]

    def close(self) -> None:
        """End all processes, after what is being measured."""
        self._threads.shutdown(cancel_futures=True)
        self._later.shutdown(cancel_futures=True)
        for runner in self._runners:
            runner.close()
