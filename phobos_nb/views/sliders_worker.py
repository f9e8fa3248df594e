"""A worker process whose work can be dropped at once: another one, already started, takes over."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from phobos_nb.tune.worker import Worker, WorkerCrashError


class DroppedError(RuntimeError):
    """The call was dropped before it gave a result."""


class DroppableWorker:
    """Two child processes of one factory: one works, the other stands by.

    factory, arguments: as of `tune.worker.Worker`. One thread calls; any other may drop its call.
    """

    def __init__(self, factory: Callable[..., Any], *arguments: Any, timeout: float) -> None:
        self._workers = [Worker(factory, *arguments, timeout=timeout) for _ in range(2)]
        self._lock = threading.Lock()
        self._busy: Worker | None = None
        self._dropped: Worker | None = None

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the child's object.

        Raises `DroppedError` where it was dropped, else what `Worker.call` raises.
        """
        with self._lock:
            worker = self._busy = self._workers[0]
            self._dropped = None
        try:
            return self._twice(worker, method, arguments)
        finally:
            with self._lock:
                self._busy = None

    def _twice(self, worker: Worker, method: str, arguments: tuple[Any, ...]) -> Any:
        """A child that was dropped just after its answer is found dead by the next call."""
        for attempt in range(2):
            try:
                return worker.call(method, *arguments)
            except WorkerCrashError:
                if self._dropped is worker:
                    raise DroppedError(method) from None
                if attempt:
                    raise
        raise AssertionError("unreachable")

    def drop(self) -> bool:
        """End the call under way, if there is one."""
        with self._lock:
            worker = self._busy
            if worker is None:
                return False
            self._busy, self._dropped = None, worker
            worker.kill()
            self._workers.reverse()
        return True

    def stand_by(self) -> None:
        """Start the process that takes over, in the background."""
        self._workers[1].begin()

    def close(self) -> None:
        """End both processes; the next call starts one anew."""
        self.drop()
        for worker in self._workers:
            worker.close()
