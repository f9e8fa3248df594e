"""One memory operation: what it moves and where.

Note [Live lanes]
`live` says which part of an access takes place: `None` is all of it, [lanes] some lanes, and
[..., lanes] some elements of some lanes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

from phobos_nb.simulate.banks import AccessKind
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools, Ints, Value


class Named(Protocol):
    """Tells how many elements each lane names."""

    def of(self, s: Strand) -> Ints:
        """The number per lane, active or not."""
        ...


@dataclass(frozen=True)
class Site:
    """One memory operation: what it moves per lane. `alignment` is in elements, 1 for none.

    copied: it is the source of an asynchronous copy. named: which of its elements it names, those past
    the end included; None for all.

    Generated code moves `chunk` elements at a time: the largest power of two that the alignment, 16
    bytes and the number of elements allow.
    """

    op: int
    kind: AccessKind
    shape: tuple[int, ...]
    alignment: int = 1
    copied: bool = False
    named: Named | None = None

    @property
    def elements(self) -> int:
        """Elements per lane."""
        return math.prod(self.shape)

    def chunk(self, itemsize: int) -> int:
        """Elements per access of the hardware."""
        allowed = min(self.alignment, 16 // itemsize)
        found = 1
        while found * 2 <= allowed and self.elements % (found * 2) == 0:
            found *= 2
        return found


@dataclass
class Located:
    """An access with its addresses: positions in the typed view, of element 0 of each lane.

    `grid` are the offsets of the lane's elements from there, [..., 1], `None` for a scalar. `at` is
    `base + shift`: `base` is one object for all accesses through one memref.
    """

    at: Value
    grid: Ints | None
    live: Bools | None
    base: Value
    shift: Value

    def positions(self) -> Any:
        """The position of every element, [..., lanes]."""
        return self.at if self.grid is None else self.at + self.grid
