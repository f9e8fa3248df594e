"""The built-in `shuffle_xor`."""

from __future__ import annotations

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.lanes import WARP, exchange

SPEC = exchange(
    "shuffle_xor",
    "The value of the lane whose number is the own one xor `mask` (modulo 32).",
    "mask",
    lambda own, mask: own ^ (mask % WARP),
    lowering.exchange("xor"),
)
