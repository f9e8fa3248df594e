"""Times of GPU work: interleaved rounds in random order, by CUDA events, in CUDA graphs where asked."""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from phobos_nb.cuda.driver import cupy

Work = Callable[[], object]


@dataclass(frozen=True)
class Sample:
    """Times of one contender in milliseconds per call, one per round."""

    times: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle round."""
        return statistics.median(self.times)

    @property
    def fastest(self) -> float:
        """The fastest round."""
        return min(self.times)


@contextmanager
def on_stream(stream: Any) -> Generator[None]:
    """Make a CuPy stream the current one, for torch too where torch is loaded."""
    with ExitStack() as stack:
        stack.enter_context(stream)
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_available():
            stack.enter_context(torch.cuda.stream(torch.cuda.ExternalStream(stream.ptr)))
        yield


def capture(work: Work, stream: Any, repeats: int = 1) -> Any:
    """A CUDA graph of `repeats` calls of `work`, which must launch on the current stream alone."""
    with on_stream(stream):
        stream.begin_capture()
        try:
            for _ in range(repeats):
                work()
        finally:
            graph = stream.end_capture()
    return graph


def captured_or_none(work: Work, stream: Any, repeats: int) -> Any:
    """The graph, or None for work that cannot be captured, such as one that allocates."""
    try:
        return capture(work, stream, repeats)
    except RuntimeError:
        return None


class Interleaved:
    """Contenders timed side by side: every round samples each once, in a new random order.

    contenders: name -> a function that makes one sample, in milliseconds per call. What they share in a
    round, such as the clock, cancels in comparisons round by round.
    """

    def __init__(self, contenders: Mapping[str, Callable[[], float]], seed: int = 0) -> None:
        self._contenders = dict(contenders)
        self._shuffle = random.Random(seed).shuffle
        self.times: dict[str, list[float]] = {name: [] for name in contenders}

    def warm(self, seconds: float) -> None:
        """Rounds that do not count, for at least so long: a GPU that was idle runs at another clock."""
        end = time.perf_counter() + seconds
        while self._contenders and time.perf_counter() < end:
            for sample in self._contenders.values():
                sample()

    def run(self, rounds: int) -> None:
        """So many rounds more."""
        order = list(self._contenders)
        for _ in range(rounds):
            self._shuffle(order)
            for name in order:
                self.times[name].append(self._contenders[name]())


def time_interleaved(
    contenders: Mapping[str, Work],
    *,
    rounds: int = 25,
    inner: int = 1,
    graph: bool = True,
    seed: int = 0,
) -> dict[str, Sample]:
    """Time contenders on the GPU in interleaved rounds; see `sampler` for `inner` and `graph`."""
    stream = cupy().cuda.Stream(non_blocking=True)
    samplers = {name: sampler(work, stream, inner, graph) for name, work in contenders.items()}
    found = Interleaved(samplers, seed)
    found.run(rounds)
    return {name: Sample(tuple(times)) for name, times in found.times.items()}


def sampler(work: Work, stream: Any, inner: int = 1, graph: bool = True) -> Callable[[], float]:
    """A function that makes one sample: the mean over `inner` calls between two events, in milliseconds.

    With `graph` the inner calls are one captured graph where they can be, so that host time stays out
    of short kernels.
    """
    run = _warm(work, stream, inner, graph)
    return lambda: time_once(run, stream) / inner


def _warm(work: Work, stream: Any, inner: int, graph: bool) -> Work:
    with on_stream(stream):
        for _ in range(3):
            work()
        stream.synchronize()
    captured = captured_or_none(work, stream, inner) if graph else None
    if captured is not None:
        captured.upload(stream)
        return lambda: captured.launch(stream)

    def run() -> None:
        with on_stream(stream):
            for _ in range(inner):
                work()

    return run


def time_once(run: Work, stream: Any) -> float:
    """Milliseconds between two events around `run`, which must use that stream."""
    events = cupy().cuda
    start, stop = events.Event(), events.Event()
    start.record(stream)
    run()
    stop.record(stream)
    stop.synchronize()
    return float(events.get_elapsed_time(start, stop))
