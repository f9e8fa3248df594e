"""Source text and the places in it that diagnostics and line tables point at."""

from __future__ import annotations

import bisect
import linecache
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple


class Span(NamedTuple):
    """A half-open range of character offsets into one source text."""

    start: int
    stop: int

    def to(self, other: Span) -> Span:
        """The smallest span that covers this one and `other`."""
        return Span(min(self.start, other.start), max(self.stop, other.stop))

    def covers(self, other: Span) -> bool:
        """Whether `other` lies in this span."""
        return self.start <= other.start and other.stop <= self.stop


class Position(NamedTuple):
    """A 1-based line and column as an editor shows them."""

    line: int
    column: int


def shown_name(name: str) -> str:
    """A text's name in messages: `cell-8c6dc83e`, which tells cells apart in caches, is a `cell`."""
    return re.sub(r"^cell-[0-9a-f]{8}$", "cell", name)


def line_table_name(name: str) -> str:
    """A file's name in a folder that is nowhere: `/phobos/softmax.ph`."""
    return "/phobos/" + re.split(r"[/\\]", name)[-1]


@dataclass(frozen=True)
class Source:
    """One text with its name; line ends are normalised to LF when it is made.

    `first_line` is the number that the reader sees beside the first line of `text`: 2 for the
    body of a notebook cell, whose first line is the magic itself.
    """

    text: str
    name: str = "<phobos>"
    first_line: int = 1
    starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        text = self.text.replace("\r\n", "\n").replace("\r", "\n")
        object.__setattr__(self, "text", text)
        starts = (0, *(i + 1 for i, c in enumerate(text) if c == "\n"))
        object.__setattr__(self, "starts", starts)

    def position(self, offset: int) -> Position:
        """The line and column of a character offset, as the reader's editor numbers them."""
        row = bisect.bisect_right(self.starts, offset) - 1
        return Position(row + self.first_line, offset - self.starts[row] + 1)

    def offset(self, line: int, column: int) -> int:
        """The offset of a place, `position` turned round; the line is one of the text's."""
        return self.starts[line - self.first_line] + column - 1

    def line_text(self, line: int) -> str:
        """The text of a line by the number the reader sees; empty when there is none."""
        row = line - self.first_line
        return self.lines[row] if 0 <= row < len(self.lines) else ""

    @property
    def shown_name(self) -> str:
        """The name in messages."""
        return shown_name(self.name)

    @property
    def table_name(self) -> str:
        """The name in line tables of machine code, which goes to other machines: without a folder."""
        return line_table_name(self.name)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines of the text without their ends."""
        return tuple(self.text.split("\n"))

    def register(self) -> None:
        """Make the text known to `linecache`, so that tracebacks and profilers can show it."""
        body = [""] * (self.first_line - 1) + list(self.lines)
        content = "\n".join(body)
        linecache.cache[self.name] = (len(content), None, [f"{x}\n" for x in body], self.name)
