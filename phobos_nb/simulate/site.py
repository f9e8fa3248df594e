"""One memory operation: what it moves and where.

Note [Live lanes]
`live` says which part of an access takes place: `None` is all of it, [lanes] some lanes, and
[..., lanes] some elements of some lanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from phobos_nb.simulate.banks import AccessKind
from phobos_nb.simulate.values import Bools, Ints, Value


@dataclass(frozen=True)
class Site:
    """One memory operation: what it moves per lane. `alignment` is in elements, 1 for none."""

    op: int
    kind: AccessKind
    shape: tuple[int, ...]
    alignment: int = 1


@dataclass
class Located:
    """An access with its addresses: positions in the typed view, of element 0 of each lane.

    `grid` are the offsets of the lane's elements from there, [..., 1], `None` for a scalar.
    """

    at: Value
    grid: Ints | None
    live: Bools | None

    def positions(self) -> Any:
        """The position of every element, [..., lanes]."""
        return self.at if self.grid is None else self.at + self.grid
