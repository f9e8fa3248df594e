"""Which edges of a grid have code of their own, see Note [Thin edges] of edges.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from phobos_nb.contract import GridRule
from phobos_nb.lower.choices import EDGE


@dataclass(frozen=True)
class Edge:
    """One more body: of CTAs with at most `most` positions of `symbol` left, on a grid axis, by step."""

    symbol: str
    axis: int
    step: int
    most: int


def edges_of(grid: GridRule, constants: Mapping[str, int]) -> list[Edge]:
    """The edges that EDGE_X and EDGE_Y ask for; none where they are no part of a tile."""
    found: list[Edge] = []
    for number, (name, terms) in enumerate(zip(EDGE, grid.axes, strict=False)):
        most = constants.get(name, 0)
        if grid.problem or len(terms) != 1 or not isinstance(terms[0].extent, str):
            continue
        if 0 < most < terms[0].step:
            found.append(Edge(terms[0].extent, number, terms[0].step, most))
    return found
