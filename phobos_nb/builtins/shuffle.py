"""The built-in `shuffle`."""

from __future__ import annotations

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.lanes import WARP, exchange

SPEC = exchange(
    "shuffle",
    "The value that lane `lane` (modulo 32) of the warp holds.",
    "lane",
    lambda own, lane: lane % WARP + 0 * own,
    lowering.exchange("idx"),
)
