"""The built-in `shuffle_xor`."""

from __future__ import annotations

from phobos_nb.builtins.families.lanes import WARP, exchange
from phobos_nb.builtins.families.lowering import not_lowered

SPEC = exchange(
    "shuffle_xor",
    "The value of the lane whose number is the own one xor `mask` (modulo 32).",
    "mask",
    lambda own, mask: own ^ (mask % WARP),
    not_lowered,
)
