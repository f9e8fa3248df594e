"""The printed translation unit and its line table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple


class Place(NamedTuple):
    """A line of the kernel's own text, as the reader's editor numbers it."""

    name: str
    line: int


@dataclass(frozen=True)
class Line:
    """One line of printed code and the line of kernel text that it came from."""

    text: str
    place: Place | None = None

    def renamed(self, name: str, other: str) -> Line:
        """The line with its place in a text of another name, if it is in the one named."""
        place = self.place
        if place is None or place.name != name:
            return self
        return Line(self.text, place._replace(name=other))


@dataclass(frozen=True)
class CudaSource:
    """CUDA C++ for one kernel; it includes no header.

    text: what is compiled, with `#line` directives. lines: the same without them, each with its place.
    entry: the kernel's extern "C" name. parameters: the C types of the entry's arguments in order,
    which a launch must match. threads: per CTA; shared sizes in bytes, dynamic_shared to be passed at
    launch. registers: the register cap asked for, 0 when none was.
    """

    text: str
    lines: tuple[Line, ...]
    entry: str
    parameters: tuple[str, ...]
    target: str
    threads: int
    min_blocks: int
    registers: int
    static_shared: int
    dynamic_shared: int

    @property
    def readable(self) -> str:
        """The code without line directives."""
        return "".join(f"{line.text}\n" for line in self.lines)

    def naming(self, name: str, other: str) -> str:
        """The text with another name for one that its line directives use."""
        return with_directives(tuple(line.renamed(name, other) for line in self.lines))


def with_directives(lines: tuple[Line, ...]) -> str:
    """Printed lines with a `#line` wherever the compiler's own counting would name another place."""
    return "".join(f"{text}\n" for text in _directed(lines))


def _directed(lines: tuple[Line, ...]) -> Iterator[str]:
    expected: Place | None = None
    for line in lines:
        place = line.place
        if place is not None and place != expected:
            yield f'#line {place.line} "{_quoted(place.name)}"'
            expected = place
        yield line.text
        if expected is not None:
            expected = expected._replace(line=expected.line + 1)


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
