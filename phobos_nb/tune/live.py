"""A search in the background: the notebook stays free, and what is found so far can be read any time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.tune.autotune import session_of
from phobos_nb.tune.outcome import Outcome
from phobos_nb.tune.pace import Pace
from phobos_nb.tune.records import Record, conclude
from phobos_nb.tune.replay import provenance, replay
from phobos_nb.tune.result import Tuning
from phobos_nb.tune.search import Event, Listener

if TYPE_CHECKING:
    from phobos_nb.views.autotune_widget import AutotuneWidget

Run = Callable[[Listener, threading.Event, Record], Tuning]
"""run(listener, stop, known): the whole search, without what the record `known` holds already."""

_LATEST: WeakValueDictionary[str, LiveSearch] = WeakValueDictionary()
"""The latest search of each call, by its record's name: two at once would spoil each other's times."""


class LiveSearch:
    """A search that runs in a thread. `on_change` callbacks are called from that thread.

    kernel: what "use" acts on, None where there is only a record. recorded: card and date of a replay.
    """

    def __init__(
        self, empty: Record, run: Run, kernel: Kernel | None = None, recorded: str = ""
    ) -> None:
        self.kernel, self.recorded = kernel, recorded
        self.pace = Pace()
        self._empty, self._run = empty, run
        self._outcomes: dict[str, Outcome] = {}
        self._stop = threading.Event()
        self._callbacks: list[Callable[[], None]] = []
        self._tuning: Tuning | None = None
        self._error: BaseException | None = None
        self._thread = self._new_thread()

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
    def can_resume(self) -> bool:
        """Whether it was stopped, by a person or by its budget, before everything was measured."""
        return self._tuning is not None and bool(self._tuning.stopped)

    @property
    def tuning(self) -> Tuning | None:
        """The result once there is one; never waits."""
        return self._tuning

    @property
    def error(self) -> BaseException | None:
        """What ended the search instead of a result."""
        return self._error

    @property
    def record(self) -> Record:
        """What is known so far."""
        if self._tuning is not None:
            return self._tuning.record
        return conclude(self._empty, dict(self._outcomes), "")

    def stop(self) -> None:
        """End soon; the best so far is kept."""
        self._stop.set()

    def stop_soon(self) -> threading.Thread:
        """The same, for whoever must wait for the end."""
        self.stop()
        return self._thread

    def resume(self) -> None:
        """Go on after a stop with what is left; nothing that was measured is measured again.

        Waits for the end of a stop that is still under way.
        """
        if self._stop.is_set():
            self._thread.join()
        if not self.can_resume:
            return
        self._thread.join()
        self._outcomes = dict(self.record.outcomes)
        self._tuning, self._stop, self.pace = None, threading.Event(), Pace()
        self._thread = self._new_thread()
        self._thread.start()

    def result(self, timeout: float | None = None) -> Tuning:
        """Wait for the end; `TimeoutError` after that many seconds, or what the search raised."""
        self._thread.join(timeout)
        if self._error is not None:
            raise self._error
        if self._tuning is None:
            raise TimeoutError("the search is still running")
        return self._tuning

    def widget(self) -> AutotuneWidget:
        """The search in the browser, as a notebook shows it by itself."""
        import phobos_nb

        return phobos_nb.AutotuneWidget(self)

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call it whenever there is something new, and at the end; what is returned ends that."""
        self._callbacks.append(callback)

        def forget() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return forget

    def _new_thread(self) -> threading.Thread:
        return threading.Thread(target=self._work, daemon=True, name="phobos search")

    def _work(self) -> None:
        known = replace(self._empty, outcomes=dict(self._outcomes))
        try:
            self._tuning = self._run(self._listen, self._stop, known)
        except BaseException as error:  # handed to whoever asks for the result
            self._error = error
        self._tell()

    def _listen(self, event: Event) -> None:
        if event.outcome is not None:
            self._outcomes[event.outcome.label] = event.outcome
        self.pace = self.pace.after(event, time.perf_counter())
        self._tell()

    def _tell(self) -> None:
        for callback in list(self._callbacks):
            callback()


def autotune_live(kernel: Kernel, *arguments: Any, grid: Any = None, **named: Any) -> LiveSearch:
    """`Kernel.tune` in the background; options and errors are the same.

    A search of the same call that still runs, such as that of the cell's run before, is stopped first;
    what it has measured is not measured again.
    """
    session = session_of(kernel, arguments, grid, named)
    name = session.identity.file_name
    earlier = [live.stop_soon() for live in filter(None, [_LATEST.get(name)])]

    def run(listener: Listener, stop: threading.Event, known: Record) -> Tuning:
        while earlier:
            earlier.pop().join()
        session.settings = replace(session.settings, listener=listener, stop=stop)
        return session.run(known.outcomes) if known.outcomes else session.tuning()

    live = LiveSearch(session.empty(), run, session.kernel)
    _LATEST[name] = live
    return live.start()


def replay_live(
    record: Record, *, pace: float = 0.05, kernel: Kernel | None = None, **options: Any
) -> LiveSearch:
    """A record searched again, `pace` seconds per outcome; options are those of `replay.replay`.

    kernel: what "use" acts on and what is compiled for notes and comparisons, where it is at hand.
    """

    def run(listener: Listener, stop: threading.Event, known: Record) -> Tuning:
        def slowed(event: Event) -> None:
            listener(event)
            fresh = event.outcome is None or event.outcome.label not in known.outcomes
            time.sleep(pace * fresh)

        return replay(record, listener=slowed, stop=stop, known=known.outcomes, **options)

    empty = replace(record, outcomes={}, best=None, ties=(), peers={})
    return LiveSearch(empty, run, kernel, provenance(record)).start()
