"""Files that a command is to write, looked at before the work that fills them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def unwritable(paths: Iterable[Path | None]) -> str:
    """Why the first of the paths cannot be written; empty where all can. None is no path."""
    for path in paths:
        if path is None:
            continue
        if not path.parent.is_dir():
            return f"{path}: there is no folder {path.parent}"
        if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
            return f"{path}: cannot be written"
    return ""
