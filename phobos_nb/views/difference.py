"""What differs between two compilations, pane by pane: resources, then the lines of every stage."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from phobos_nb.compilation.compilation import Compilation
from phobos_nb.counts import counted
from phobos_nb.diagnostics import PhobosError

STAGES = {
    "Tile MLIR": "tile_mlir",
    "Thread MLIR": "thread_mlir",
    "CUDA": "cuda",
    "PTX": "ptx",
    "SASS": "sass",
}
"""Panes and the attribute of a `Compilation` that is their text."""

CONTEXT = 2
"""Lines that are the same and stay around those that differ."""

MOST_LINES = 600
"""Of one pane; the rest is counted."""

QUICK_FROM = 2000
"""Lines from which on frequent ones are not used to find what belongs together: seconds, not minutes."""

LOCATION = re.compile(r"\s*loc\((?:[^()]|\([^()]*\))*\)|\s*//.*$")
"""Locations and comments say where a line came from, not what it does."""

NUMBERED = re.compile(r"(%[A-Za-z_]*|\b[a-z]+_|\bv|\.L_x_|\$L__BB)\d[\d_]*\b")
"""Names that the compiler numbers: values of MLIR, variables of CUDA, virtual registers, labels."""

ADDRESS, INDENT = re.compile(r"^\s*/\*[0-9a-f]+\*/\s*"), "    "
"""Of SASS: one more instruction would change those of all that follow."""

DEBUG_TABLES = ".file"
"""What begins the end of a PTX module that only debuggers read."""


@dataclass(frozen=True)
class PaneDifference:
    """One pane. lines: of a unified difference, "-" the first one's, "+" the second's; none if equal."""

    title: str
    summary: str
    lines: tuple[str, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """As JSON's types."""
        return {**asdict(self), "lines": list(self.lines)}


def differences(one: Compilation, other: Compilation) -> Iterator[PaneDifference]:
    """Every stage that can be made here; one that cannot says why. Raises for what does not compile."""
    for title, attribute in STAGES.items():
        try:
            before, after = (_lines(getattr(c, attribute)) for c in (one, other))
        except PhobosError as error:
            if not all(d.code in ("PH601", "PH602") for d in error.diagnostics):
                raise
            yield PaneDifference(title, error.diagnostics[0].message)
            continue
        yield pane(title, before, after)


def pane(title: str, before: list[str], after: list[str]) -> PaneDifference:
    """The difference of two texts as lines; lines that differ only in numbered names are equal."""
    keys = [[NUMBERED.sub(r"\1", line) for line in lines] for lines in (before, after)]
    long = max(map(len, keys)) > QUICK_FROM
    matcher = difflib.SequenceMatcher(None, *keys, autojunk=long)
    found: list[str] = []
    for group in matcher.get_grouped_opcodes(CONTEXT):
        (_, first, _, start, _), (_, _, last, _, stop) = group[0], group[-1]
        found.append(f"@@ -{first + 1},{last - first} +{start + 1},{stop - start} @@")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                found += [f" {line}" for line in after[j1:j2]]
                continue
            found += [f"-{line}" for line in before[i1:i2]]
            found += [f"+{line}" for line in after[j1:j2]]
    gone = sum(line.startswith("-") for line in found)
    new = sum(line.startswith("+") for line in found)
    summary = f"{counted(gone, 'line')} only in A, {new:,} only in B" if found else "the same"
    if len(found) > MOST_LINES:
        found = [*found[:MOST_LINES], f"@ {len(found) - MOST_LINES:,} more lines"]
    return PaneDifference(title, summary, tuple(found))


def _lines(text: str) -> list[str]:
    """The lines that do something: no locations, comments, addresses or tables for debuggers."""
    found: list[str] = []
    for line in text.splitlines():
        if line.lstrip().startswith(DEBUG_TABLES):
            break
        bare = LOCATION.sub("", ADDRESS.sub(INDENT, line)).rstrip()
        if bare and not bare.lstrip().startswith(("#loc", "#line", ".loc")):
            found.append(bare)
    return found
