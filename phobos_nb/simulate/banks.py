"""Shared-memory wavefronts of one warp access: the rule that ncu's counters follow.

Source of the rule: 53 address patterns times loads and stores of 4, 8 and 16 bytes and cp.async of
4 bytes, counted with ncu on an H200; tests/simulate/test_banks.py holds every count.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

BANKS = 32
WARP = 32
NOT_KNOWN = -1
"""Returned where no counter shows the true number (asynchronous copies wider than 4 bytes)."""

AccessKind = Literal["load", "store", "async", "atomic", "matrix", "matrix_store"]
"""`matrix` is ldmatrix, `matrix_store` stmatrix: 16 bytes at each lane that gives a row address."""
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def wavefronts(addresses: Ints, active: Bools, size: int, kind: AccessKind) -> Ints:
    """Wavefronts of each warp.

    Parameters: `addresses` and `active` are [warps, 32], byte addresses and whether the lane takes
    part; `size` is the bytes per lane, 1 to 16. Lanes are served in groups of 32, 16 or 8 (4, 8,
    16 bytes); a group costs the largest number of distinct words in one bank. Two neighbouring
    groups of a load are served together when in them every lane equals its neighbour lane^1, or
    every lane equals lane^2. An asynchronous copy of 4 bytes costs the lanes per bank, equal
    addresses not merged; wider ones are `NOT_KNOWN`.
    """
    words = addresses // 4
    if kind == "async":
        if size > 4:
            return np.full(len(words), NOT_KNOWN, np.int64)
        return _largest_bank(words[:, None, :, None], active[:, None, :, None], merge=False)[:, 0]
    groups = max(1, size // 4)
    split = _group_costs(words, active, size, groups)
    if kind != "load" or groups == 1:
        return split.sum(1)
    joined = _group_costs(words, active, size, groups // 2)
    mergeable = _neighbours_equal(words, active, groups // 2)
    pairs = split.reshape(len(words), groups // 2, 2).sum(2)
    return np.where(mergeable, joined, pairs).sum(1)


def fewest_wavefronts(addresses: Ints, active: Bools, size: int, kind: AccessKind) -> Ints:
    """The fewest wavefronts that any placement of the same words could reach, [warps].

    One wavefront serves 32 words, and a group of lanes (a pair of groups, for loads) with an
    active lane takes one at least.
    """
    size = max(size, 4)
    words = (addresses // 4)[:, :, None] + np.arange(size // 4)
    live = np.broadcast_to(active[:, :, None], words.shape)
    count = distinct(words.reshape(len(words), -1), live.reshape(len(words), -1)).sum(1)
    groups = size // 4 if kind != "load" else max(1, size // 8)
    busy = active.reshape(len(active), groups, -1).any(2).sum(1)
    return np.maximum(-(-count // BANKS), busy)


def _group_costs(words: Ints, active: Bools, size: int, groups: int) -> Ints:
    """Cost of each of `groups` equal groups of lanes, [warps, groups]."""
    count = len(words)
    each = max(1, size // 4)
    grouped = words.reshape(count, groups, WARP // groups, 1) + np.arange(each)
    live = np.broadcast_to(active.reshape(count, groups, WARP // groups, 1), grouped.shape)
    return _largest_bank(grouped, live, merge=True)


def _largest_bank(words: Ints, active: Bools, *, merge: bool) -> Ints:
    """Over the last two axes, the largest number of (distinct, if `merge`) words in one bank."""
    count, groups = words.shape[:2]
    flat = words.reshape(count * groups, -1)
    live = active.reshape(count * groups, -1)
    if merge:
        live = distinct(flat, live)
    rows = np.arange(len(flat))[:, None]
    cell = (rows * BANKS + flat % BANKS)[live]
    load = np.bincount(cell, minlength=len(flat) * BANKS)
    return load.reshape(count, groups, BANKS).max(2)


def distinct(flat: Ints, live: Bools) -> Bools:
    """Marks one live entry per distinct value of each row; both are [rows, entries]."""
    hidden = np.where(live, flat, np.iinfo(np.int64).min)
    order = np.argsort(hidden, axis=1, kind="stable")
    ordered = np.take_along_axis(hidden, order, 1)
    first = np.ones_like(live)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    marked = np.empty_like(live)
    np.put_along_axis(marked, order, first, 1)
    return marked & live


def _neighbours_equal(words: Ints, active: Bools, groups: int) -> Bools:
    """Whether in each group every lane equals lane^1, or every lane equals lane^2."""
    lanes = np.arange(WARP)
    result = np.zeros((len(words), groups), np.bool_)
    for step in (1, 2):
        other = lanes ^ step
        equal = (words == words[:, other]) | ~active | ~active[:, other]
        result |= equal.reshape(len(words), groups, -1).all(2)
    return result
