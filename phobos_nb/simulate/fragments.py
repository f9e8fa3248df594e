"""Which lane of a warp holds which element in tensor-core fragments.

Source: PTX ISA, "Matrix fragments for mma" and "ldmatrix". A register holds `per` elements (32 bits);
lane l is in group l // 4 and is thread l % 4 of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phobos_nb.simulate.values import Ints

LANES = np.arange(32)
GROUP = LANES // 4
THREAD = LANES % 4


@dataclass(frozen=True)
class Fragment:
    """Rows and columns of a fragment's elements, both [registers, elements per register, 32]."""

    rows: Ints
    columns: Ints


def _both(rows: Ints, columns: Ints) -> Fragment:
    wide = np.broadcast_arrays(rows, columns)
    return Fragment(wide[0], wide[1])


def operand_a(m: int, k: int, per: int) -> Fragment:
    """The m x k left operand: registers go down the row halves first, then along k."""
    halves = m // 8
    register = np.arange(halves * k // (4 * per)).reshape(-1, 1, 1)
    element = np.arange(per).reshape(1, -1, 1)
    rows = GROUP + 8 * (register % halves)
    columns = per * THREAD + element + 4 * per * (register // halves)
    return _both(rows, columns)


def operand_b(k: int, per: int) -> Fragment:
    """The k x 8 right operand; rows are along k."""
    register = np.arange(k // (4 * per)).reshape(-1, 1, 1)
    element = np.arange(per).reshape(1, -1, 1)
    return _both(per * THREAD + element + 4 * per * register, GROUP)


def accumulator(m: int) -> Fragment:
    """The m x 8 accumulator: two neighbouring columns per lane, a row half per register pair."""
    register = np.arange(m // 8).reshape(-1, 1, 1)
    element = np.arange(2).reshape(1, -1, 1)
    return _both(GROUP + 8 * register, 2 * THREAD + element)


def matrix_tile(per: int, *, transpose: bool) -> Fragment:
    """One 8-row tile of `ldmatrix`, [1, per, 32]: the row it reads and the element in that row."""
    element = np.arange(per).reshape(1, -1, 1)
    along = per * THREAD + element
    return _both(along, GROUP) if transpose else _both(GROUP, along)
