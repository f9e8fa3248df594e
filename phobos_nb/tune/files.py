"""Dispatch tables and records on disk: written whole or not at all, unknown files kept aside."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

from phobos_nb.compilation.dispatch_table import DispatchTable
from phobos_nb.files import write_whole

LOG = logging.getLogger("phobos_nb")


def write_table(table: DispatchTable, path: Path) -> None:
    """Write a table; a folder that cannot be written costs the table, with a warning."""
    try:
        put_in_place(table.to_json(), path, DispatchTable.from_json)
    except OSError as error:
        LOG.warning("the dispatch table was not kept: %s", error)


def put_in_place(text: str, path: Path, read: Callable[[str], object]) -> None:
    """Put text in a file's place at once; a file that `read` cannot take is kept under another name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _set_aside(path, read)
    write_whole(path, text)


def _set_aside(path: Path, read: Callable[[str], object]) -> None:
    """Move a file that this version cannot read out of the way, and say so."""
    if not path.is_file():
        return
    try:
        read(path.read_text("utf-8", errors="replace"))
    except ValueError as error:
        kept = path.with_suffix(f".kept-{int(path.stat().st_mtime)}")
        os.replace(path, kept)
        LOG.warning("%s: %s; kept as %s", path, error, kept.name)
