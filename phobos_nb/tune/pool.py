"""An executor whose workers are processes that may hang or crash without harm."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from phobos_nb.tune.worker import Worker

P = ParamSpec("P")
T = TypeVar("T")

Task = tuple["Future[Any]", Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class Caller:
    """What each worker process holds: it calls functions it is sent."""

    def run(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        """Call one function."""
        return function(*arguments, **named)


class WorkerPool(Executor):
    """Runs importable functions in `size` child processes, each for at most `timeout` seconds.

    A future's exception is `WorkerTimeoutError`, `WorkerCrashError` or `RemoteError`; other tasks go
    on, in a fresh process where one was lost.
    """

    def __init__(self, size: int, timeout: float | None = None) -> None:
        self.size = size
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._timeout = timeout
        self._workers = [Worker(Caller, timeout=timeout) for _ in range(size)]
        self._threads: list[threading.Thread] = []
        self._idle = threading.Semaphore(0)
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queue a call."""
        if self._closed:
            raise RuntimeError("the pool is shut down")
        future: Future[T] = Future()
        self._tasks.put((future, fn, args, kwargs))
        if not self._idle.acquire(blocking=False) and len(self._threads) < self.size:
            worker = self._workers[len(self._threads)]
            thread = threading.Thread(target=self._serve, args=(worker,), daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def _serve(self, worker: Worker) -> None:
        while (task := self._tasks.get()) is not None:
            future, function, arguments, named = task
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(worker.call("run", function, arguments, named))
                except Exception as error:
                    future.set_exception(error)
            self._idle.release()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes; without `wait`, those at work too."""
        self._closed = True
        while cancel_futures and not self._tasks.empty():
            task = self._tasks.get()
            if task is not None:
                task[0].cancel()
        for _ in self._threads:
            self._tasks.put(None)
        if not wait:
            for worker in self._workers:
                worker.kill()
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            worker.close()
