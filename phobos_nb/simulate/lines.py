"""Global memory as the L1 cache sees it: 128-byte lines and their 32-byte sectors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True)
class BoxLines:
    """128-byte lines under a box of a tensor.

    lines: distinct lines of the whole box; fewest: what its rows need when each starts on a line;
    rows: for each innermost row, in row-major order, the lines it needs beyond the fewest.
    """

    lines: int
    fewest: int
    rows: tuple[int, ...]

    @property
    def extra(self) -> int:
        """Lines beyond the fewest."""
        return self.lines - self.fewest


def box_lines(base: int, shape: Sequence[int], strides: Sequence[int], itemsize: int) -> BoxLines:
    """Count the lines under a box whose first element is at byte `base`.

    `strides` are in bytes; the innermost axis may have any stride.
    """
    inner = base + np.arange(shape[-1], dtype=np.int64) * strides[-1]
    dense = -(-shape[-1] * itemsize // LINE)
    seen: set[int] = set()
    extra: list[int] = []
    for row in itertools.product(*(range(n) for n in shape[:-1])):
        shift = sum(i * s for i, s in zip(row, strides, strict=False))
        lines = _lines_of(inner + shift, itemsize)
        seen.update(lines)
        extra.append(len(lines) - dense)
    return BoxLines(len(seen), dense * len(extra), tuple(extra))


def _lines_of(addresses: NDArray[np.int64], itemsize: int) -> set[int]:
    first = np.unique(addresses // LINE).tolist()
    return {*first, *np.unique((addresses + itemsize - 1) // LINE).tolist()}
