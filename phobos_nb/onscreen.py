"""One line that changes while something runs: one display of a notebook, one line of a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from phobos_nb.options import environment

WIDTH = 100
"""Columns of a terminal's line."""

Show = Callable[[str], None]


def display_of_this_process() -> tuple[Show, Show] | None:
    """How to show a line and how to end with one; None where nobody would see it change.

    Nothing is shown with PHOBOS_PROGRESS=0, or where standard output is a file or a pipe. Standard
    error is never written.
    """
    if not environment().progress:
        return None
    return _notebook() or _terminal()


def _notebook() -> tuple[Show, Show] | None:
    ipython: Any = sys.modules.get("IPython")
    shell: Any = None if ipython is None else ipython.get_ipython()
    if ipython is None or not hasattr(shell, "kernel"):
        return None
    display: Callable[..., Any] = ipython.display.display
    handle: list[Any] = []

    def show(text: str) -> None:
        bundle = {"text/plain": text}
        if handle:
            handle[0].update(bundle, raw=True)
        else:
            handle.append(display(bundle, raw=True, display_id=True))

    return show, show


def _terminal() -> tuple[Show, Show] | None:
    out = sys.stdout
    if not out.isatty():
        return None

    def show(text: str) -> None:
        out.write(f"\r{text[:WIDTH]:<{WIDTH}}")
        out.flush()

    def end(text: str) -> None:
        show(text)
        out.write("\n")
        out.flush()

    return show, end
