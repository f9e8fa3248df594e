"""Global memory as one CTA touches it with a whole tile: each 128-byte line counted once.

What the counts per warp say twice where two warps, or two machine instructions, share a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phobos_nb.simulate.banks import WARP
from phobos_nb.simulate.lines import LINE

if TYPE_CHECKING:
    from phobos_nb.simulate.records import Event

Ints = NDArray[np.int64]
_Key = tuple[int, int, str, str]


@dataclass(frozen=True)
class TileAccess:
    """One access of the kernel's text by the traced CTA: a tile, or an element per thread.

    A place of the text that a loop comes to again is an access again. elements: those that no mask left
    out. lines: the 128-byte lines under them, each once. extra: lines that their runs of neighbouring
    bytes take beyond what they would if each run began on a line.
    """

    line: int
    column: int
    kind: str
    tensor: str
    elements: int
    lines: int
    extra: int


def tile_accesses(trace: Iterable[Event]) -> list[TileAccess]:
    """The accesses of global memory in a trace, in the order in which they began."""
    found: dict[tuple[_Key, int], _Open] = {}
    done: Counter[tuple[int, int]] = Counter()
    for event in trace:
        if event.elements is None:
            continue
        steps = [(event.place.index, warp) for warp in {thread // WARP for thread in event.threads}]
        turn = max(done[step] for step in steps)
        for step in steps:
            done[step] = turn + 1
        key = (event.place.line, event.place.column, event.kind, event.tensor)
        access = found.setdefault((key, turn), _Open(key))
        access.parts.append(event.elements)
        access.size = max(access.size, event.element_bytes)
    return [access.closed() for access in found.values()]


@dataclass
class _Open:
    """An access of which more may come: where its elements begin, and the bytes of each."""

    key: _Key
    size: int = 0
    parts: list[Ints] = field(default_factory=list[Ints])

    def closed(self) -> TileAccess:
        """The access with its lines."""
        first = np.unique(np.concatenate(self.parts))
        if not len(first):
            return TileAccess(*self.key, 0, 0, 0)
        breaks = np.flatnonzero(np.diff(first) > self.size)
        low = first[np.concatenate([[0], breaks + 1])]
        high = first[np.concatenate([breaks, [-1]])] + self.size
        needed, taken = -(-(high - low) // LINE), (high - 1) // LINE - low // LINE + 1
        lines = np.unique(np.concatenate([first // LINE, (first + self.size - 1) // LINE]))
        return TileAccess(*self.key, len(first), len(lines), int((taken - needed).sum()))
