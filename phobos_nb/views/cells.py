"""A widget belongs to the cells that show it: run again, a cell closes those it no longer shows.

Without this every run of a cell would leave the widget of the run before in the kernel, with its
connection to the browser, until the kernel ends. Outside a notebook nothing is done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol
from weakref import WeakKeyDictionary


class Closes(Protocol):
    """What is closed."""

    def close(self) -> None:
        """End it; a second time does nothing."""
        ...


class Cells:
    """Which cell shows what. `began` and `ended` are told of every run of a cell by its id."""

    def __init__(self) -> None:
        self._cells: WeakKeyDictionary[Closes, set[str]] = WeakKeyDictionary()
        self._before: list[Closes] = []

    def show(self, widget: Closes, cell: str) -> None:
        """The cell, which is running, shows it."""
        self._cells.setdefault(widget, set()).add(cell)

    def began(self, cell: str) -> None:
        """The cell's output is gone."""
        self._before = [w for w, cells in self._cells.items() if cell in cells]
        for widget in self._before:
            self._cells[widget].discard(cell)

    def ended(self) -> None:
        """Whatever the output held before and no cell shows now is closed."""
        for widget in self._before:
            if not self._cells.get(widget):
                widget.close()
        self._before = []


_CELLS = Cells()
_SHELLS: WeakKeyDictionary[Any, Callable[..., None]] = WeakKeyDictionary()
"""Shells that tell of their cells."""


def belongs_to_this_cell(widget: Closes) -> None:
    """Let a widget live as long as the output of the cell that is running now."""
    import IPython

    shell: Any = IPython.get_ipython()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportPrivateImportUsage]
    parent: dict[str, Any] = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell: str | None = parent.get("metadata", {}).get("cellId")  # JupyterLab and VS Code send it
    if not cell:
        return
    if shell not in _SHELLS:
        _SHELLS[shell] = _listen(shell)
    _CELLS.show(widget, cell)


def _listen(shell: Any) -> Callable[..., None]:
    def began(info: Any) -> None:
        _CELLS.began(info.cell_id)

    def ended(*_: Any) -> None:
        _CELLS.ended()

    shell.events.register("pre_run_cell", began)
    shell.events.register("post_run_cell", ended)
    return began
