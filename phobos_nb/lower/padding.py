"""Pads for shared buffers, chosen by counting the wavefronts of the accesses that will be made.

The rule was checked on an H200 with ncu (tests/simulate/data): lanes go in groups of 32, 16 or 8 for 4,
8 or 16 bytes each; a group costs the largest number of distinct words that fall in one bank.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from phobos_nb.lower.layouts import WARP, Layout

BANKS = 32
WORD = 4
WIDEST = 16


@dataclass(frozen=True)
class SharedAccess:
    """A tile written to or read from a buffer under a layout; `order` gives the physical axes."""

    layout: Layout
    order: tuple[int, ...]


def choose_pad(
    physical: Sequence[int], itemsize: int, accesses: Iterable[SharedAccess], *, whole: bool = False
) -> int:
    """Elements to add to the innermost extent; the cheapest accesses, then the smallest pad.

    `whole`: only pads that make a row whole 16 bytes, so that rows are aligned for the widest loads.
    """
    found = list(accesses)
    unit = max(1, WIDEST // itemsize)
    rest = -physical[-1] % unit
    candidates = (rest, rest + unit, rest + 2 * unit) if whole else sorted({0, 1, 2, unit, 2 * unit})
    return min(candidates, key=lambda pad: (_cost(physical, pad, itemsize, found), pad))


def _cost(physical: Sequence[int], pad: int, itemsize: int, accesses: Sequence[SharedAccess]) -> float:
    """Instructions and wavefronts per element moved, summed over the accesses."""
    strides = [1]
    for extent in reversed((*physical[1:-1], physical[-1] + pad) if len(physical) > 1 else ()):
        strides.insert(0, strides[0] * extent)
    total = 0.0
    for access in accesses:
        width = _width(access, physical[-1] + pad, itemsize)
        places = [
            sum(access.layout.axes[a].base(lane) * s for a, s in zip(access.order, strides, strict=True))
            for lane in range(min(WARP, access.layout.threads))
        ]
        total += (1 + store_wavefronts([p * itemsize for p in places], width * itemsize)) / width
    return total


def _width(access: SharedAccess, row: int, itemsize: int) -> int:
    """Elements of one access: the run along the innermost physical axis that rows keep aligned."""
    width = min(access.layout.axes[access.order[-1]].run, max(1, WIDEST // itemsize))
    while row % width:
        width //= 2
    return width


def store_wavefronts(addresses: Sequence[int], size: int) -> int:
    """Wavefronts of one warp access of `size` bytes a lane at byte addresses, groups unmerged."""
    group = min(WARP, BANKS * WORD // max(WORD, size))
    total = 0
    for start in range(0, len(addresses), group):
        banks: dict[int, set[int]] = {}
        for address in addresses[start : start + group]:
            for word in range(address // WORD, (address + max(size, 1) - 1) // WORD + 1):
                banks.setdefault(word % BANKS, set()).add(word)
        total += max(len(words) for words in banks.values())
    return total
