"""Counting what warp accesses cost, each distinct address pattern once."""

from __future__ import annotations

import numpy as np

from phobos_nb.simulate.banks import NOT_KNOWN, AccessKind, fewest_wavefronts, wavefronts
from phobos_nb.simulate.lines import LINE, SECTOR, fewest, touched
from phobos_nb.simulate.values import Bools, Ints, Value

WARP = 32
BYPASS, BYPASS_PARTS = 16, 4
"""Bytes per lane of an asynchronous copy that passes the first cache by. It asks for the sectors of 8
lanes at a time: on an H200 512 bytes take 16 sectors, and 20 where they begin 16 bytes into one, which
a load of the same bytes takes 17 for."""
STEADY_LIMIT = 64
"""Address arrays that are kept per access."""
_WEIGHTS = np.random.default_rng(20).integers(1, 2**62, WARP, np.int64) | 1
_ABSENT = np.int64(-(1 << 50))


class PatternCosts:
    """The costs of accesses of `size` bytes per lane, remembered by relative addresses.

    Shared memory gives (wavefronts, fewest); global memory (lines, fewest, sectors, fewest). Costs
    depend only on addresses relative to a 4-byte word (shared) or a 128-byte line (global), so a
    64-bit hash of those is the key.
    """

    def __init__(self, kind: AccessKind, size: int, *, shared: bool, copied: bool = False) -> None:
        self.kind: AccessKind = kind
        self.parts = BYPASS_PARTS if copied and size == BYPASS else 1
        self.size = size
        self.shared = shared
        self.unit = 4 if shared else LINE
        self.costs: dict[int, Ints] = {}
        self.steady: dict[tuple[int, int], tuple[Value, list[int]]] = {}

    def remembered(self, base: Value, shift: int) -> list[int] | None:
        """The costs of an earlier execution through the same memref, shifted by whole units."""
        known = self.steady.get((id(base), shift % self.unit))
        return None if known is None else known[1]

    def remember(self, base: Value, shift: int, totals: list[int]) -> None:
        """Keep the costs of a memref's addresses; `base` is kept too, so that its id stays its own."""
        if len(self.steady) >= STEADY_LIMIT:
            self.steady.clear()
        self.steady[id(base), shift % self.unit] = (base, totals)

    def total(self, addresses: Ints, active: Bools | None) -> Ints:
        """Costs added over the warps; `addresses` in bytes and `active` are [warps, 32]."""
        relative = addresses - (addresses[:, :1] & -self.unit)
        if active is not None:
            relative = np.where(
                active, addresses - (_first_active(addresses, active) & -self.unit), _ABSENT
            )
        keys = (relative * _WEIGHTS).sum(1)
        first = int(keys[0])
        if (keys == first).all():
            return self._cost(first, addresses, active, 0) * len(keys)
        unique, where, counts = np.unique(keys, return_index=True, return_counts=True)
        rows = [
            self._cost(k, addresses, active, w)
            for k, w in zip(unique.tolist(), where.tolist(), strict=True)
        ]
        return (np.stack(rows) * counts[:, None]).sum(0)

    def _cost(self, key: int, addresses: Ints, active: Bools | None, warp: int) -> Ints:
        known = self.costs.get(key)
        if known is None:
            row = addresses[warp : warp + 1]
            live = np.ones(row.shape, np.bool_) if active is None else active[warp : warp + 1]
            known = self.costs[key] = self._count(row, live)
        return known

    def _count(self, row: Ints, live: Bools) -> Ints:
        if self.shared:
            real = wavefronts(row, live, self.size, self.kind)
            return np.concatenate([real, fewest_wavefronts(row, live, self.size, self.kind)])
        lines, least, _, fewest_sectors = (
            f(row, live, self.size, unit) for unit in (LINE, SECTOR) for f in (touched, fewest)
        )
        parts = row.reshape(self.parts, -1), live.reshape(self.parts, -1)
        sectors = touched(*parts, self.size, SECTOR).sum(keepdims=True)
        return np.concatenate([lines, least, sectors, fewest_sectors])


def known(wavefronts_: int) -> int | None:
    """A sum of wavefronts, or `None` when the hardware shows none."""
    return None if wavefronts_ <= NOT_KNOWN else wavefronts_


def _first_active(addresses: Ints, active: Bools) -> Ints:
    """Per warp, the address of its first active lane, [warps, 1]."""
    return np.take_along_axis(addresses, active.argmax(1)[:, None], 1)
