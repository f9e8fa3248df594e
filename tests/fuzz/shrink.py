"""Making a failing program smaller: lines and blocks are dropped while it fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tests.fuzz.generate import Program
from tests.fuzz.judge import Failure, Paths, judge, with_text


def shrunk(program: Program, failure: Failure, paths: Paths, seconds: float = 8) -> Program:
    """The program without the lines that its failure does not need, as far as the time goes."""
    limit = time.monotonic() + seconds
    changed = True
    while changed:
        changed = False
        for smaller in _smaller(program.text):
            if time.monotonic() > limit:
                return program
            candidate = with_text(program, smaller)
            if failure.like(judge(candidate, paths)):
                program, changed = candidate, True
                break
    return program


def _smaller(text: str) -> Iterator[str]:
    """The text without each block, or each line, the longest first."""
    lines = text.splitlines()
    kernel = next(i for i, line in enumerate(lines) if line.startswith("kernel"))
    spans = [(i, _end(lines, i)) for i in range(kernel + 1, len(lines) - 1)]
    spans += [(i, _end(lines, i)) for i, line in enumerate(lines[:kernel]) if not line.startswith(" ")]
    for start, end in sorted(spans, key=lambda s: s[0] - s[1]):
        yield "\n".join([*lines[:start], *lines[end + 1 :]]) + "\n"
    for start, end in spans:
        if end > start and lines[start].endswith("{"):
            yield "\n".join([*lines[:start], *lines[start + 1 : end], *lines[end + 1 :]]) + "\n"


def _end(lines: list[str], start: int) -> int:
    """The last line of the statement that starts here."""
    level = 0
    for position in range(start, len(lines)):
        level += lines[position].count("{") - lines[position].count("}")
        if level <= 0:
            return position
    return start
