"""The part of a traceback that is the user's own code."""

from __future__ import annotations

import contextlib
import linecache
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from traceback import walk_tb
from types import CodeType, TracebackType
from typing import cast

PACKAGE = str(Path(__file__).parent)
OTHERS = ("IPython", "ipykernel")
"""Packages whose frames stand above those of a cell."""


def own_frames(trace: TracebackType | None) -> list[str]:
    """Lines for each frame outside this package, contextlib and the shell, outermost first."""
    found: list[str] = []
    for frame, line in walk_tb(trace):
        module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if not _inside(frame.f_code.co_filename) and module not in OTHERS:
            found += [*_frame(frame.f_code, line), ""]
    return found


def _inside(file: str) -> bool:
    return file.startswith(PACKAGE) or file == contextlib.__file__


def _frame(code: CodeType, line: int) -> Iterator[str]:
    function = "" if code.co_name == "<module>" else f", in {code.co_name}"
    yield f"{_place(code.co_filename)}, line {line}{function}"
    text = linecache.getline(code.co_filename, line).strip()
    if text:
        yield f"----> {line} {text}"


def _place(file: str) -> str:
    """A file as IPython names it: a cell by its number."""
    shell = sys.modules.get("IPython.core.interactiveshell")
    if shell is not None and shell.InteractiveShell.initialized():
        compiler: object = shell.InteractiveShell.instance().compile
        name = getattr(compiler, "format_code_name", None)
        if found := cast("Callable[[str], tuple[str, str] | None] | None", name):
            return " ".join(found(file) or ("File", file))
    return f"File {file}"
