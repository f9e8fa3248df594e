"""Listings: program text cut into lines that know the source line they came from.

Each compiler stage marks origins in its own way; the marks are taken out of what is shown and
become the number beside the line:

| stage | mark |
|---|---|
| MLIR | `loc("name":12:3)` at the end of the line |
| PTX  | `.loc 1 12 3` above the lines, file 1 being named by a `.file` |
| SASS | `//## File "name", line 12` above the lines, the innermost call first |

A back end may put a folder before the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

Mix = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Line:
    """One line as shown.

    origin: the source line it came from, as the reader's editor numbers it. mix: what a source line
    became, instruction families with their counts, most first. tip: what these are, where they are not
    the line's own work.
    """

    text: str
    origin: int | None = None
    mix: Mix = ()
    tip: str = ""

    @property
    def instructions(self) -> int:
        """How many machine instructions the line became."""
        return sum(count for _, count in self.mix)


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


MLIR_LOC = re.compile(r'\s*loc\("([^"]*)":(\d+):\d+\)$')
MLIR_OTHER_LOC = re.compile(r"\s*loc\((?:unknown|#\w+)\)$")
PTX_FILE = re.compile(r'\.file\s+(\d+)\s+"(.*?)"')
PTX_LOC = re.compile(r"(?:\.loc|inlined_at)\s+(\d+)\s+(\d+)")
SASS_FILE = re.compile(r'(?:## File|inlined at) "(.*?)", line (\d+)')
SASS_CODE = re.compile(r"\s*/\*([0-9a-f]+)\*/\s+(.*?)\s*;")
SASS_LABEL = re.compile(r"\.L_\w+:$")
SASS_FUNCTION = re.compile(r"\$[\w$.]+:$")
"""A function that the kernel calls: it has no places, and is not of the line above it."""


def _mlir(text: str, name: str) -> Iterator[Line]:
    for line in text.split("\n"):
        found = MLIR_LOC.search(line)
        if found:
            yield Line(line[: found.start()], int(found[2]) if found[1] == name else None)
        elif not line.startswith("#loc"):
            yield Line(MLIR_OTHER_LOC.sub("", line))


def _ptx(text: str, name: str) -> Iterator[Line]:
    """PTX without its debug sections."""
    ours = {file for file, path in PTX_FILE.findall(text) if path.endswith(name)}
    origin: int | None = None
    for line in re.split(r"\n\s*\.(?:file|section)\b", text)[0].split("\n"):
        places = PTX_LOC.findall(line)
        if places:
            origin = _last(places, ours)
        elif not line.startswith(("$L__tmp", "$L__func", "$L__info")):
            yield Line(line.replace("\t", "  "), origin)


def _sass(text: str, name: str) -> Iterator[Line]:
    """Instructions and labels; directives and the padding after the code are left out."""
    origin: int | None = None
    marked = False
    for line in text.split("\n"):
        places = SASS_FILE.findall(line)
        if places:
            found = _last(places, {path for path, _ in places if path.endswith(name)})
            origin = found or (origin if marked else None)
        elif (code := SASS_CODE.match(line)) and code[2] != "NOP":
            yield Line(f"{code[1]}  {code[2]}", origin)
        elif SASS_FUNCTION.match(line):
            origin = None
            yield Line(line)
        elif SASS_LABEL.match(line):
            yield Line(line)
        marked = bool(places)


def _last(places: list[tuple[str, str]], ours: set[str]) -> int | None:
    """The line of the last place that is in our text: of a call, not of the helper that it calls."""
    return next((int(line) or None for file, line in reversed(places) if file in ours), None)


READERS: dict[str, Callable[[str, str], Iterator[Line]]] = {"mlir": _mlir, "ptx": _ptx, "sass": _sass}


def listing(title: str, language: str, text: str, name: str, *, whole: str = "") -> Listing:
    """A pane of compiler output; origins in the source called `name` are read from the text."""
    lines = tuple(READERS[language](text.strip("\n"), name))
    return Listing(title, language, lines, whole)


def source_listing(
    text: str,
    first_line: int,
    mixes: Mapping[int, Mix] | None = None,
    tips: Mapping[int, str] | None = None,
    behind: Iterable[Line] = (),
) -> Listing:
    """The pane of Phobos source; each line is its own origin, numbered as the reader sees it.

    mixes, tips: by line. behind: lines that are not of the source, such as what lines call.
    """
    known, told = mixes or {}, tips or {}
    numbered = enumerate(text.rstrip("\n").split("\n"), first_line)
    lines = (Line(t, n, known.get(n, ()), told.get(n, "")) for n, t in numbered)
    return Listing("Source", "phobos", (*lines, *behind))


def missing(title: str, language: str, reason: str) -> Listing:
    """A pane whose text cannot be had here, with the reason in words."""
    return Listing(title, language, (), missing=reason)
