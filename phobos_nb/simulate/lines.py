"""Global memory as the L1 cache sees it: 128-byte lines and their 32-byte sectors."""

from __future__ import annotations

import numpy as np

from phobos_nb.simulate.banks import Bools, Ints, distinct

LINE = 128
SECTOR = 32


def touched(addresses: Ints, active: Bools, size: int, unit: int) -> Ints:
    """How many distinct aligned units of `unit` bytes each warp's access touches, [warps].

    `addresses` is [warps, lanes] in bytes, `size` the bytes of one lane's element.
    """
    first = addresses // unit
    last = (addresses + size - 1) // unit
    live = np.concatenate([active, active & (last != first)], 1)
    return distinct(np.concatenate([first, last], 1), live).sum(1)


def fewest(addresses: Ints, active: Bools, size: int, unit: int) -> Ints:
    """Units of `unit` bytes that the same bytes would need if they lay together, [warps]."""
    bytes_ = distinct(addresses, active).sum(1) * size
    return -(-bytes_ // unit)
