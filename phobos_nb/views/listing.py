"""Listings: program text cut into lines that know the source line they came from.

Each compiler stage marks origins in its own way; the marks are taken out of what is shown and
become the number beside the line:

| stage | mark |
|---|---|
| MLIR | `loc("name":12:3)` at the end of the line |
| CUDA | `#line 12 "name"` above the lines |
| PTX  | `.loc 1 12 3` above the lines |
| SASS | `//## File "name", line 12` above the lines |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One line as shown; `origin` is the source line it came from, as the reader's editor numbers it."""

    text: str
    origin: int | None = None


@dataclass(frozen=True)
class Listing:
    """One pane of program text. `whole` is the expression that gives the full text."""

    title: str
    language: str
    lines: tuple[Line, ...]
    whole: str = ""
    missing: str = ""

    @property
    def text(self) -> str:
        """The lines as shown."""
        return "\n".join(line.text for line in self.lines)


MLIR_LOC = re.compile(r'\s*loc\("[^"]*":(\d+):\d+\)$')
MLIR_OTHER_LOC = re.compile(r"\s*loc\((?:unknown|#\w+)\)$")
CUDA_LINE = re.compile(r'\s*#line (\d+)(?: ".*")?$')
PTX_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")
SASS_LINE = re.compile(r'\s*//## File ".*", line (\d+)')


def _mlir(text: str) -> Iterator[Line]:
    for line in text.split("\n"):
        found = MLIR_LOC.search(line)
        if found:
            yield Line(line[: found.start()], int(found[1]))
        elif not line.startswith("#loc"):
            yield Line(MLIR_OTHER_LOC.sub("", line))


def _marked(text: str, mark: re.Pattern[str]) -> Iterator[Line]:
    """Lines below a mark have its origin; a mark for line 0 means none."""
    origin: int | None = None
    for line in text.split("\n"):
        if found := mark.match(line):
            origin = int(found[1]) or None
        else:
            yield Line(line, origin)


def _cuda(text: str) -> Iterator[Line]:
    return _marked(text, CUDA_LINE)


def _ptx(text: str) -> Iterator[Line]:
    """PTX without its debug sections."""
    kept = text.partition("\n\t.section\t.debug")[0].partition("\n.section")[0]
    for line in _marked(kept, PTX_LOC):
        if not line.text.lstrip().startswith((".file", "$L__tmp", "$L__func")):
            yield Line(line.text.replace("\t", "  "), line.origin)


def _sass(text: str) -> Iterator[Line]:
    return _marked(text, SASS_LINE)


READERS: dict[str, Callable[[str], Iterator[Line]]] = {
    "mlir": _mlir,
    "cuda": _cuda,
    "ptx": _ptx,
    "sass": _sass,
}


def listing(title: str, language: str, text: str, *, whole: str = "") -> Listing:
    """A pane of compiler output with its origins read from the text."""
    lines = tuple(READERS[language](text.strip("\n")))
    return Listing(title, language, lines, whole)


def source_listing(text: str, first_line: int) -> Listing:
    """The pane of Phobos source; each line is its own origin, numbered as the reader sees it."""
    lines = text.rstrip("\n").split("\n")
    return Listing("Source", "phobos", tuple(Line(t, first_line + i) for i, t in enumerate(lines)))


def missing(title: str, language: str, reason: str) -> Listing:
    """A pane whose text cannot be had here, with the reason in words."""
    return Listing(title, language, (), missing=reason)
