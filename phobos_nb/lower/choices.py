"""The compiler's own choices that a caller can fix by name, with what each number means."""

from __future__ import annotations

from collections.abc import Mapping

from phobos_nb.contract import MOST
from phobos_nb.lower.loop_form import ADDRESSES, GUARDS, ORDERS, RINGS

SPLIT = "SPLIT_K"
"""How many CTAs share the k loop of a tile, see Note [Split-K] of split_k.py."""


K_GROUPS = "K_GROUPS"
"""How many groups of a CTA's warps share the k-steps of a slice, see Note [K groups] of k_groups.py."""

SPREAD = "SPREAD"
"""Whether sums change hands behind their loop even where they are of one group."""

MOST_PARTS = 4096
"""Of SPLIT_K: a CTA of every tile writes its sums for each. At the largest tile, 256 x 256 of f32, that
is a gigabyte a tile; grids may be 65,535 high."""

EDGE = ("EDGE_X", "EDGE_Y")
"""Most positions of a CTA at the end of a grid axis that has code of its own, see Note [Thin edges]."""

BY_EXTENTS = (*MOST, *EDGE)
"""What follows from a call's extents and its tile, and is no choice of a search."""

LONGEST = 2048
"""K-steps of an iteration without shared memory: partial tiles may reach 4096 past an extent
(`arguments.variant.OVERHANG`)."""


def _numbered(values: tuple[str, ...]) -> str:
    return ", ".join(f"{number} {value}" for number, value in enumerate(values))


CHOICES: Mapping[str, str] = {
    "THREAD_M": "Rows of a dot's result that one thread accumulates.",
    "THREAD_N": "Columns of a dot's result that one thread accumulates.",
    "WARPS_M": "Warps along the rows of a dot's result; the others lie along its columns.",
    "LANES_M": "Lanes of a warp along the rows of a dot's result; the others lie along its columns.",
    "STAGES": "Buffers in flight for the operands of a pipelined loop; 1 is no pipelining.",
    "SLICES": "K-slices in one iteration of a loop with dots; a loop of its own runs what is left.",
    "UNROLL_K": "K-steps of a dot that are unrolled.",
    "PAD_A": "Elements added to a k-row of the left operand in shared memory, against bank conflicts.",
    "PAD_B": "The same for the right operand.",
    "GROUP": "Rows of tiles that neighbouring CTAs share in the L2 cache; 0 is the hardware's order.",
    "MIN_BLOCKS": "CTAs that shall fit on a multiprocessor together when stages are chosen.",
    MOST[0]: "Largest extent along the grid's axis x: tiles are cut to it, larger calls are refused.",
    MOST[1]: "The same for axis y.",
    EDGE[0]: "CTAs with at most so many positions left on the grid's axis x have code cut to them.",
    EDGE[1]: "The same for axis y.",
    "DIRECT": "1, the default: products with a vector run without shared memory; 0: as all others.",
    SPLIT: "CTAs that share the k loop of a tile; a second launch adds their sums. 1 is no sharing.",
    K_GROUPS: "Groups of a CTA's warps that share the k-steps of a slice and add their sums at the end.",
    SPREAD: "1: sums go through shared memory behind the k loop and are stored by whole rows; 0: not.",
    "ORDER": f"Order of the multiply-adds of a k-step: {_numbered(ORDERS)}.",
    "ADDRESS": f"Global addresses in a pipelined loop: {_numbered(ADDRESSES)}.",
    "GUARD": f"Copies past the last k-slice: {_numbered(GUARDS)}.",
    "RING": f"Places in the ring of stages: {_numbered(RINGS)}.",
}
"""Name -> meaning. A name that is not given is decided by the compiler; none changes results beyond
the order in which sums are rounded."""

FROM_ZERO = frozenset(("PAD_A", "PAD_B", "GROUP", *BY_EXTENTS))

NUMBERED: Mapping[str, int] = {
    "DIRECT": 2,
    SPREAD: 2,
    "ORDER": len(ORDERS),
    "ADDRESS": len(ADDRESSES),
    "GUARD": len(GUARDS),
    "RING": len(RINGS),
}
"""Choices whose numbers stand for one of so many things, from 0."""


def out_of_range(name: str, value: int) -> str:
    """What a choice takes, in words, where `value` is not of it; empty where it is."""
    if name in NUMBERED:
        most = NUMBERED[name] - 1
        return "" if 0 <= value <= most else f"a whole number from 0 to {most}"
    if name == SPLIT:
        return "" if 1 <= value <= MOST_PARTS else f"a whole number from 1 to {MOST_PARTS}"
    least = 0 if name in FROM_ZERO else 1
    return "" if value >= least else f"a whole number from {least} up"
