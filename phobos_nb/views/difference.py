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

LOCATION = re.compile(r"\s*loc\((?:[^()]|\([^()]*\))*\)|\s*//.*$")
"""Locations and comments say where a line came from, not what it does."""


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
    """The difference of two texts, given as lines."""
    found = list(difflib.unified_diff(before, after, n=CONTEXT, lineterm=""))[2:]
    gone = sum(line.startswith("-") for line in found)
    new = sum(line.startswith("+") for line in found)
    summary = f"{counted(gone, 'line')} only in A, {new:,} only in B" if found else "the same"
    if len(found) > MOST_LINES:
        found = [*found[:MOST_LINES], f"@ {len(found) - MOST_LINES:,} more lines"]
    return PaneDifference(title, summary, tuple(found))


def _lines(text: str) -> list[str]:
    stripped = (LOCATION.sub("", line).rstrip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith("#loc")]
