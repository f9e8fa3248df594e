"""Where configurations are compiled and run: the one interface that live searches and replays share."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any, Protocol, cast

from phobos_nb.tune.bench import Bench, Verdict
from phobos_nb.tune.compile_job import Compiled
from phobos_nb.tune.outcome import Constants, Failed, Kind, Measured, label
from phobos_nb.tune.worker import RemoteError, WorkerCrashError, WorkerTimeoutError

MOST_LOADED = 64
"""Configurations that stay loaded in the bench; a big space would fill the GPU with code and graphs."""


class Runner(Protocol):
    """Compiles and measures configurations. width: how many compilations may be under way at once."""

    width: int

    def start(self, constants: Constants) -> Future[Compiled | Failed]:
        """Begin to compile."""
        ...

    def measure(self, compiled: Compiled, samples: int) -> Measured | Failed:
        """Run once, check the answer, take the first times."""
        ...

    def time(self, constants: Constants, samples: int) -> tuple[float, ...] | Failed:
        """More times of a configuration that was measured, in milliseconds."""
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...


class BenchCaller(Protocol):
    """A bench somewhere, called by method name; see `Worker`, whose exceptions it raises.

    generation: of the bench that the next call will ask; another one has nothing loaded.
    """

    @property
    def generation(self) -> int:
        """Its number."""
        ...

    def call(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        """Call a method of the bench."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class Local:
    """A bench in this process, behind the interface of `Worker`; for work that can do no harm."""

    def __init__(self, factory: Callable[..., Bench], *arguments: Any) -> None:
        self._make = lambda: factory(*arguments)
        self._bench: Bench | None = None
        self.generation = 1

    def call(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:  # noqa: ARG002 - nothing can end a call in this process
        """Call a method of the bench."""
        if self._bench is None:
            self._bench = self._make()
        try:
            return getattr(self._bench, method)(*arguments)
        except Exception as error:
            raise RemoteError(type(error).__name__, str(error)) from error

    def close(self) -> None:
        """Forget the bench."""
        self._bench = None
        self.generation += 1


class LiveRunner:
    """Compiles on an executor, measures in a bench; faults become outcomes.

    job: constants -> what the executor is to do: a function and its argument. timeout: seconds for
    loading, checking or timing one configuration once. compiled: what runners of one search share.
    """

    def __init__(
        self,
        executor: Executor,
        width: int,
        job: Callable[[Constants], tuple[Callable[[Any], Compiled | Failed], Any]],
        bench: BenchCaller,
        timeout: float,
        compiled: dict[str, Compiled] | None = None,
    ) -> None:
        self.width = width
        self._executor, self._job, self._bench, self._timeout = executor, job, bench, timeout
        self._compiled = {} if compiled is None else compiled
        self._loaded: dict[str, int] = {}
        self._medians: dict[str, float] = {}

    def start(self, constants: Constants) -> Future[Compiled | Failed]:
        """Hand the job to the executor; whatever goes wrong there becomes a `Failed` of the future."""
        made: Future[Compiled | Failed] = Future()
        begun = time.perf_counter()

        def finish(done: Future[Compiled | Failed]) -> None:
            if done.cancelled():
                made.cancel()
                return
            if not made.set_running_or_notify_cancel():  # the search that asked has ended
                return
            error = done.exception()
            if error is None:
                made.set_result(done.result())
            else:
                made.set_result(failure(constants, error, Kind.COMPILE, time.perf_counter() - begun))

        try:
            function, argument = self._job(constants)
            self._executor.submit(function, argument).add_done_callback(finish)
        except Exception as error:
            made.set_result(failure(constants, error, Kind.COMPILE, time.perf_counter() - begun))
        return made

    def measure(self, compiled: Compiled, samples: int) -> Measured | Failed:
        """Check, then time; only a right answer is timed."""
        begun = time.perf_counter()
        name = label(compiled.constants)
        try:
            verdict = self._check(name, compiled)
            if verdict.complaint:
                spent = time.perf_counter() - begun
                self._drop(name)
                return Failed(compiled.constants, Kind.WRONG, verdict.complaint, spent)
            times = self._bench.call("time", name, samples, timeout=self._timeout)
            self._medians[name] = statistics.median(times)
            self._make_room()
        except (RemoteError, WorkerTimeoutError, WorkerCrashError) as error:
            return self._fault(compiled.constants, error, time.perf_counter() - begun)
        self._compiled[name] = compiled
        return Measured(compiled.constants, times, (), verdict.error, compiled.facts, compiled.seconds)

    def time(self, constants: Constants, samples: int) -> tuple[float, ...] | Failed:
        """Time again, after loading and checking where this bench has not, or its process was lost."""
        name, begun = label(constants), time.perf_counter()
        try:
            if self._loaded.get(name) != self._bench.generation:
                verdict = self._check(name, self._compiled[name])
                if verdict.complaint:
                    spent = time.perf_counter() - begun
                    return Failed(constants, Kind.WRONG, verdict.complaint, spent)
            return self._bench.call("time", name, samples, timeout=self._timeout)
        except (RemoteError, WorkerTimeoutError, WorkerCrashError) as error:
            return self._fault(constants, error, time.perf_counter() - begun)

    def close(self) -> None:
        """End the bench's process."""
        self._bench.close()

    def _check(self, name: str, compiled: Compiled) -> Verdict:
        verdict = cast(Verdict, self._bench.call("check", name, compiled, timeout=self._timeout))
        self._loaded[name] = self._bench.generation
        return verdict

    def _drop(self, name: str) -> None:
        self._bench.call("drop", name, timeout=self._timeout)
        self._loaded.pop(name, None)

    def _make_room(self) -> None:
        """Drop the slowest of too many; should one be timed again, it is loaded and checked again."""
        while len(self._loaded) > MOST_LOADED:
            self._drop(max(self._loaded, key=lambda name: self._medians.get(name, math.inf)))

    def _fault(self, constants: Constants, error: Exception, seconds: float) -> Failed:
        if isinstance(error, RemoteError) and "context is lost" in error.text:
            self._bench.close()
        return failure(constants, error, Kind.LAUNCH, seconds)


def failure(constants: Constants, error: BaseException, otherwise: Kind, seconds: float) -> Failed:
    """The outcome for an exception met while compiling or running a configuration."""
    if isinstance(error, TimeoutError):
        kind = Kind.TIMEOUT
    elif isinstance(error, WorkerCrashError | BrokenExecutor):
        kind = Kind.CRASH
    elif isinstance(error, RemoteError) and error.kind in _REFUSALS:
        kind = Kind.CONSTRAINT
    else:
        kind = otherwise
    text = error.text if isinstance(error, RemoteError) else f"{type(error).__name__}: {error}"
    if isinstance(error, WorkerTimeoutError | WorkerCrashError):
        text = str(error)
    return Failed(constants, kind, text.strip(), seconds)


_REFUSALS: Mapping[str, str] = {
    "ArgumentValueError": "a broken promise or a hardware limit",
    "ArgumentTypeError": "a grid that cannot be",
}
"""Errors of the checks before a launch, by class name."""
