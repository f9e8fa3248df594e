"""Calls with fewer rows or columns than a tile: what is promised of them, and how long a product
with a vector takes.

Note [Products with a vector]
A loop as in Note [Matrix times vector] of lower/matvec.py takes as long as its bytes: through DRAM for
the whole GPU, and at most `LONE_RATE` into one SM. A thread's loads of an iteration are chosen so that
the CTAs of an SM have `IN_FLIGHT` bytes under way together. Measured on an H200 at 1 x 4096 x 4096 and
4096 x 1 x 4096: 128 CTAs of 32 columns, 16 slices of 32 each, are best; at 8192 256 CTAs of 8 slices;
splitting k pays only where a few SMs would do all the work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from phobos_nb.contract import MOST, GridRule
from phobos_nb.lower.choices import EDGE, LONGEST

START = 3000
"""Cycles of a launch in which nothing arrives yet."""

LONE_RATE = 40.0
"""Bytes a cycle into one SM when the others are idle."""

NARROW_RATE = 12.0
"""The same into one CTA that loads single elements: 1 x 4095 x 4097 took 25.6 us in 128 CTAs of 32
columns, 24.1 in 192 and 22.1 in 256 of 128."""

ITERATION = 800
"""Cycles of an iteration at least: 1 x 1 x 65536 in one CTA, 32 iterations, took 12.7 us."""

UNALIGNED = 8
"""Bytes that a row of columns costs in addition where it does not start at a sector, fitted: 32, 64, 128
and 256 columns a CTA were alike within 4 % at 1 x 4095 x 4097."""

LONG_ROW = 1 << 20
"""Where what lies side by side is taken along k, whole."""

ADD_PART = 100
"""Cycles of the second launch for each part."""

IN_FLIGHT = 64 * 1024
"""Bytes under way in an SM: 128 CTAs with 32 KB each took 23.5 us, with 64 KB 19.7, with 96 KB 19.9."""

FEWEST_SLICES = 4

THINNEST_EDGE = 8
"""Fewer rows or columns cost the same: what a CTA copies of the other operand decides."""

EDGE_SHARE = 8
"""A tile is at least so many times an edge that has code of its own."""


def bounds(grid: GridRule, extents: Mapping[str, int]) -> dict[str, int]:
    """MOST_X and MOST_Y where an extent, rounded up to a power of two, is below a tile of the axis.

    Rounded, so that calls of neighbouring extents share code; 1 stays 1.
    """
    found: dict[str, int] = {}
    for name, terms in zip(MOST, grid.axes, strict=False):
        extent = extents.get(str(terms[0].extent), 0) if len(terms) == 1 else 0
        if extent > 0 and (most := 1 << (extent - 1).bit_length()) < terms[0].step:
            found[name] = most
    return found


def edges(grid: GridRule, extents: Mapping[str, int]) -> dict[str, int]:
    """EDGE_X and EDGE_Y where the last CTA of an axis has a few positions of a much wider tile."""
    found: dict[str, int] = {}
    for name, terms in zip(EDGE, grid.axes, strict=False):
        extent = extents.get(str(terms[0].extent), 0) if len(terms) == 1 else 0
        left = extent % terms[0].step if terms else 0
        most = max(THINNEST_EDGE, 1 << (left - 1).bit_length()) if left else 0
        if extent > left > 0 and most * EDGE_SHARE <= terms[0].step:
            found[name] = most
    return found


@dataclass(frozen=True)
class VectorProduct:
    """A product with a vector on the GPU; bandwidth is DRAM's per SM, depth the k-steps of a slice.

    narrow: whether loads take single elements. row_bytes: of the matrix, side by side in a CTA's tile.
    """

    tiles: int
    slice_bytes: int
    slices: int
    depth: int
    sms: int
    bandwidth: float
    launch: int
    narrow: bool = False
    row_bytes: int = LONG_ROW

    def cycles(self, parts: int) -> float:
        """Cycles of the whole call when the loop of a tile is split in so many parts."""
        ctas = self.tiles * parts
        whole = self.tiles * self.slices * self.slice_bytes / (self.bandwidth * self.sms)
        rounds, own = -(-ctas // self.sms), -(-self.slices // parts) * self.slice_bytes
        turns = -(-self.slices // (parts * self.at_once(parts)))
        lone = max(rounds * own / LONE_RATE, turns * ITERATION)
        if self.narrow:
            whole *= 1 + UNALIGNED / self.row_bytes
            lone = max(lone, own / NARROW_RATE)
        return START + max(whole, lone) + (self.launch + ADD_PART * parts if parts > 1 else 0)

    def at_once(self, parts: int) -> int:
        """Slices of an iteration."""
        rounds = max(1, -(-self.tiles * parts // self.sms))
        pieces = (
            self.narrow and self.row_bytes < LONG_ROW
        )  # single elements of many rows: more registers
        under_way, fewest = (IN_FLIGHT // 2, 1) if pieces else (IN_FLIGHT, FEWEST_SLICES)
        most = max(fewest, under_way // (min(rounds, 4) * self.slice_bytes))
        most = max(1, min(most, LONGEST // self.depth, -(-self.slices // parts)))
        return 1 << (most.bit_length() - 1)
