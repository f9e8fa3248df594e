"""How errors are shown in a notebook: the user's own frames and the diagnostics, in colour."""

from __future__ import annotations

import re

from phobos_nb.diagnostics import Diagnostic, PhobosError, Severity
from phobos_nb.frames import own_frames
from phobos_nb.source import Source

RED, YELLOW, BLUE, BOLD, OFF = "\x1b[31m", "\x1b[33m", "\x1b[34m", "\x1b[1m", "\x1b[0m"
COLOR = {Severity.ERROR: RED, Severity.WARNING: YELLOW, Severity.NOTE: BLUE}


def shown_error(error: PhobosError) -> list[str]:
    """What IPython shows of an error in place of a traceback, which would be the compiler's own."""
    return [*own_frames(error.__traceback__), *message(error)]


def message(error: PhobosError) -> list[str]:
    """The diagnostics in colour, by lines."""
    return "\n\n".join([*(_colored(d, error.source) for d in error.shown), *error.rest]).split("\n")


def _colored(diagnostic: Diagnostic, source: Source | None) -> str:
    """The rendered diagnostic with colours; every one of them also has its word or its caret."""
    color = COLOR[diagnostic.severity]
    head, *rest = diagnostic.render(source).split("\n")
    label, _, message = head.partition(": ")
    lines = [f"{color}{label}{OFF}: {BOLD}{message}{OFF}", *(_marked(line, color) for line in rest)]
    return "\n".join(lines)


def _marked(line: str, color: str) -> str:
    if re.fullmatch(r"\s*\|\s*\^+", line):
        return line.replace("^", f"{color}^", 1) + OFF
    if found := re.match(r"(\s*-->|\s*\d* \||\s*help:)", line):
        return f"{BLUE}{found[0]}{OFF}{line[found.end() :]}"
    return line
