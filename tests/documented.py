"""What a text of docs/ tells its reader to run: blocks of Python, and lines of the command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(phobos-nb \w+ [^`]+)`")


@dataclass(frozen=True)
class Step:
    """One thing to run. line: where it begins in the text. language: "python" or "shell"."""

    line: int
    language: str
    code: str

    @property
    def arguments(self) -> list[str]:
        """Of a shell line, what follows the program's name, without comments."""
        return shlex.split(self.code, comments=True)[1:]


def steps(name: str) -> list[Step]:
    """Everything that docs/NAME.md shows as code to run, in the order of the text."""
    text = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    found: list[Step] = []
    for block in BLOCK.finditer(text):
        line = text[: block.start()].count("\n") + 2
        if block[1] == "python":
            found.append(Step(line, "python", block[2]))
        else:
            found += [Step(line + i, "shell", code) for i, code in _commands(block[2])]
    prose = BLOCK.sub(lambda m: "\n" * m[0].count("\n"), text)
    for inline in INLINE.finditer(prose):
        found.append(Step(prose[: inline.start()].count("\n") + 1, "shell", inline[1]))
    return sorted(found, key=lambda step: step.line)


def _commands(block: str) -> Iterator[tuple[int, str]]:
    for i, line in enumerate(block.splitlines()):
        if line.startswith("phobos-nb "):
            yield i, line
