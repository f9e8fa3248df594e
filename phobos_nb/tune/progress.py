"""One line that follows a search: in a notebook one display that is replaced, in a terminal one line."""

from __future__ import annotations

import time
from collections.abc import Callable

from phobos_nb.onscreen import Show, display_of_this_process
from phobos_nb.tune.outcome import Failed, Measured
from phobos_nb.tune.search import Event

EVERY = 0.1
"""Seconds between two updates at least."""


class Progress:
    """A listener. show, end: what a line is given to; clock: seconds."""

    def __init__(
        self, title: str, show: Show, end: Show, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._title, self._show, self._end, self._clock = title, show, end, clock
        self._begun = clock()
        self._shown = -EVERY
        self._best: Measured | None = None
        self._failed = 0
        self._line = ""

    def __call__(self, event: Event) -> None:
        """Take an event in; the line is replaced unless that was done just now."""
        outcome = event.outcome
        if isinstance(outcome, Failed):
            self._failed += 1
        elif outcome is not None and (self._best is None or outcome.median < self._best.median):
            self._best = outcome
        self._line = self._text(event)
        now = self._clock()
        if now - self._shown >= EVERY:
            self._shown = now
            self._show(self._line)

    def close(self, last: str = "") -> None:
        """End with the newest line, or with `last`."""
        if self._line or last:
            self._end(last or self._line)

    def _text(self, event: Event) -> str:
        parts = [f"{self._title}: {event.done}/{event.total}"]
        parts[0] += " configurations" if event.stage == "first" else " rounds of the finals"
        if self._best is not None:
            parts.append(f"best {self._best.median:.4g} ms ({self._best.label})")
        if self._failed:
            parts.append(f"{self._failed} failed")
        if event.stage == "first" and 0 < event.done < event.total:
            spent = self._clock() - self._begun
            parts.append(f"{spent / event.done * (event.total - event.done):.0f} s left")
        return ", ".join(parts)


def progress(title: str) -> Progress | None:
    """A progress display for this process; None where there is none."""
    found = display_of_this_process()
    return None if found is None else Progress(title, *found)
