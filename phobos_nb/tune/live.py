"""A search in the background: the notebook stays free, and what is found so far can be read any time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.tune.autotune import session_of
from phobos_nb.tune.outcome import Outcome
from phobos_nb.tune.records import Record, conclude
from phobos_nb.tune.replay import provenance, replay
from phobos_nb.tune.result import Tuning
from phobos_nb.tune.search import Event, Listener

Run = Callable[[Listener, threading.Event], Tuning]
"""run(listener, stop): the whole search."""


class LiveSearch:
    """A search that runs in a thread. `on_change` callbacks are called from that thread.

    kernel: what "use" acts on, None where there is only a record.
    """

    def __init__(
        self, empty: Record, run: Run, kernel: Kernel | None = None, recorded: str = ""
    ) -> None:
        self.kernel, self.recorded = kernel, recorded
        self.rounds = (0, 0)
        self._empty, self._run = empty, run
        self._outcomes: dict[str, Outcome] = {}
        self._stop = threading.Event()
        self._callbacks: list[Callable[[], None]] = []
        self._tuning: Tuning | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, daemon=True, name="phobos search")

    def start(self) -> LiveSearch:
        """Begin; returns itself."""
        self._thread.start()
        return self

    @property
    def finished(self) -> bool:
        """Whether there is a result, or an error."""
        return self._tuning is not None or self._error is not None

    @property
    def running(self) -> bool:
        """Whether it is still at work."""
        return self._thread.is_alive() and not self.finished

    @property
    def record(self) -> Record:
        """What is known so far."""
        if self._tuning is not None:
            return self._tuning.record
        return conclude(self._empty, dict(self._outcomes), "")

    def stop(self) -> None:
        """End soon; the best so far is kept."""
        self._stop.set()

    def result(self, timeout: float | None = None) -> Tuning:
        """Wait for the end; `TimeoutError` after that many seconds, or what the search raised."""
        self._thread.join(timeout)
        if self._error is not None:
            raise self._error
        if self._tuning is None:
            raise TimeoutError("the search is still running")
        return self._tuning

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call it whenever there is something new, and at the end."""
        self._callbacks.append(callback)

    def _work(self) -> None:
        try:
            self._tuning = self._run(self._listen, self._stop)
        except BaseException as error:  # handed to whoever asks for the result
            self._error = error
        self._tell()

    def _listen(self, event: Event) -> None:
        if event.outcome is not None:
            self._outcomes[event.outcome.label] = event.outcome
        else:
            self.rounds = (event.done, event.total)
        self._tell()

    def _tell(self) -> None:
        for callback in self._callbacks:
            callback()


def autotune_live(kernel: Kernel, *arguments: Any, grid: Any = None, **named: Any) -> LiveSearch:
    """`Kernel.tune` in the background; options and errors are the same."""
    session = session_of(kernel, arguments, grid, named)

    def run(listener: Listener, stop: threading.Event) -> Tuning:
        session.settings = replace(session.settings, listener=listener, stop=stop)
        return session.tuning()

    return LiveSearch(session.empty(), run, session.kernel).start()


def replay_live(record: Record, *, pace: float = 0.05, **options: Any) -> LiveSearch:
    """A record searched again, `pace` seconds per outcome; options are those of `replay.replay`."""

    def run(listener: Listener, stop: threading.Event) -> Tuning:
        def slowed(event: Event) -> None:
            listener(event)
            time.sleep(pace)

        return replay(record, listener=slowed, stop=stop, **options)

    empty = replace(record, outcomes={}, best=None, ties=(), peers={})
    return LiveSearch(empty, run, None, provenance(record)).start()
