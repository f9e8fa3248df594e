"""A cell as the reader sees it: its text with the line numbers of the editor's gutter."""

from __future__ import annotations

import hashlib
from typing import Protocol, cast

from phobos_nb.source import Source


class Shell(Protocol):
    """What is used of IPython's shell to find the cell as it was typed."""

    @property
    def history_manager(self) -> object:
        """Holds the cells as typed; `None` where history is off."""
        ...


def cell_source(body: str, raw: str | None) -> Source:
    """The source of a `%%phobos` cell; its name depends on its text alone.

    raw: the whole cell as typed. IPython drops blank lines above the magic before it hands over the
    body, so only the raw text knows the gutter's numbers. Without it the magic is taken for line 1.
    """
    digest = hashlib.sha256(body.encode()).hexdigest()[:8]
    source = Source(body, f"cell-{digest}", first_line(body, raw))
    source.register()
    return source


def first_line(body: str, raw: str | None) -> int:
    """The gutter's number of the line below `%%phobos`."""
    lines = _lines(raw or "")
    wanted = _lines(body)
    for row, line in enumerate(lines):
        if line.startswith("%%phobos") and lines[row + 1 :] == wanted:
            return row + 2
    return 2


def raw_cell(shell: Shell) -> str | None:
    """The cell that runs now as it was typed: from the request in Jupyter, else from the history."""
    get_parent = getattr(shell, "get_parent", None)
    if get_parent is not None:
        request = cast("dict[str, dict[str, str]]", get_parent())
        return request.get("content", {}).get("code")
    typed = cast("list[str]", getattr(shell.history_manager, "input_hist_raw", []))
    return typed[-1] if typed else None


def _lines(text: str) -> list[str]:
    """Lines without indentation (IPython takes a cell's own away) and without empty last ones."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n").rstrip()
    return [line.strip() for line in unified.split("\n")]
