"""Who accesses memory: the warps of a CTA, and the engines that copy and multiply on their behalf.

Every agent of a cluster has a column in the clocks, and 32 numbers in the grid: those of its lanes if it
is a warp. Columns of one CTA: its warps, one per memory barrier (bulk copies whose bytes it counts), one
per warp for its groups of bulk stores, one per warpgroup for its asynchronous products.
"""

from __future__ import annotations

from dataclasses import dataclass

LANES = 32


@dataclass(frozen=True)
class Agents:
    """The agents of a launch: threads per CTA, which engines a CTA has, CTAs per cluster."""

    threads: int
    mbarriers: int = 0
    stores: bool = False
    products: bool = False
    cluster: int = 1

    @property
    def warps(self) -> int:
        """Warps per CTA."""
        return self.threads // LANES

    @property
    def per_cta(self) -> int:
        """Columns of one CTA."""
        groups = -(-self.warps // 4) if self.products else 0
        return self.warps + self.mbarriers + self.warps * self.stores + groups

    @property
    def columns(self) -> int:
        """Columns of a cluster."""
        return self.per_cta * self.cluster

    @property
    def numbers(self) -> int:
        """Numbers in the grid that one CTA takes; a thread's is its CTA's first plus its own."""
        return max(LANES * self.per_cta, self.threads)

    def mbarrier(self, index: int) -> int:
        """The column, within its CTA, of a memory barrier."""
        return self.warps + index

    def stores_of(self, warp: int) -> int:
        """The column, within its CTA, of a warp's bulk stores."""
        return self.warps + self.mbarriers + warp

    def products_of(self, warp: int) -> int:
        """The column, within its CTA, of the asynchronous products of a warp's warpgroup."""
        return self.warps + self.mbarriers + self.warps * self.stores + warp // 4

    def number(self, cta: int, column: int) -> int:
        """The first number of an agent, by the number of its CTA and its column there."""
        return cta * self.numbers + LANES * column
