"""Dispatch tables and records on disk: written whole or not at all, unknown files kept aside."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from phobos_nb.compilation.dispatch_table import DispatchTable

LOG = logging.getLogger("phobos_nb")


def write_table(table: DispatchTable, path: Path) -> None:
    """Write a table; a folder that cannot be written costs the table, with a warning."""
    try:
        write_whole(table.to_json(), path, DispatchTable.from_json)
    except OSError as error:
        LOG.warning("the dispatch table was not kept: %s", error)


def write_whole(text: str, path: Path, read: Callable[[str], object]) -> None:
    """Put text in a file's place at once; a file that `read` cannot take is kept under another name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _set_aside(path, read)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """What the process takes from the rights of new files; a temporary file is its owner's alone."""
    found = os.umask(0o077)
    os.umask(found)
    return found


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
