"""Times of GPU work: interleaved rounds in random order, by CUDA events, in CUDA graphs where asked."""

from __future__ import annotations

import random
import statistics
import sys
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


def time_interleaved(
    contenders: Mapping[str, Work],
    *,
    rounds: int = 25,
    inner: int = 1,
    graph: bool = True,
    seed: int = 0,
) -> dict[str, Sample]:
    """Time contenders side by side: every round runs each once, in a new random order.

    A round's figure is the mean over `inner` calls between two events. With `graph` the inner calls
    are one captured graph where they can be, so that host time stays out of short kernels.
    """
    stream = cupy().cuda.Stream(non_blocking=True)
    runs = {name: _warm(work, stream, inner, graph) for name, work in contenders.items()}
    order = list(runs)
    shuffle = random.Random(seed).shuffle
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        shuffle(order)
        for name in order:
            times[name].append(time_once(runs[name], stream) / inner)
    return {name: Sample(tuple(found)) for name, found in times.items()}


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
