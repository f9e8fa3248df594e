"""Each job once: searches of several shapes ask for the same configurations, compiled for the first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from phobos_nb.contract import Variant
from phobos_nb.tune.compile_job import CompileJob

P = ParamSpec("P")
T = TypeVar("T")

Ordered = tuple[tuple[str, int], ...]
Key = tuple[Callable[..., Any], str, Variant, Ordered, Ordered]


class SharedCompiles(Executor):
    """Hands jobs on to an executor and keeps what they return. compiled: how many it did.

    Closing it closes nothing else.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._known: dict[Key, Future[Any]] = {}
        self._lock = threading.Lock()

    @property
    def compiled(self) -> int:
        """Jobs that were handed on."""
        return len(self._known)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """The future of an equal job, else of a new one."""
        job = args[0] if args else None
        if not isinstance(job, CompileJob):
            return self._executor.submit(fn, *args, **kwargs)
        key = fn, repr(job.text), job.variant, _ordered(job.constants), _ordered(job.by_extents)
        with self._lock:
            found = self._known.get(key)
            if found is None or found.cancelled() or (found.done() and found.exception() is not None):
                found = self._known[key] = self._executor.submit(fn, *args, **kwargs)
        return found


def _ordered(constants: Mapping[str, int]) -> Ordered:
    return tuple(sorted(constants.items()))
