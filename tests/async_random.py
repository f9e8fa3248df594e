"""Random kernels of bulk copies by name: each is simulated here and launched on a GPU.

Ranks, element types, boxes, swizzles, strides, places inside and outside of tensors, sizes, stages,
multicast masks, clusters and roles of warps are drawn; a name's number is the seed.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.async_clusters import random_exchange, random_multicast
from tests.async_named import random_named
from tests.async_phases import random_phases
from tests.async_rings import random_ring
from tests.async_streams import random_boxes, random_plain
from tests.async_text import Kernel

FAMILIES: dict[str, tuple[Callable[[int], Kernel], int]] = {
    "boxes": (random_boxes, 110),
    "plain": (random_plain, 30),
    "multicast": (random_multicast, 40),
    "exchange": (random_exchange, 15),
    "ring": (random_ring, 40),
    "named": (random_named, 15),
    "phases": (random_phases, 20),
}
"""Makers of kernels from seeds, and how many of each there are."""

RANDOM: dict[str, Callable[[], Kernel]] = {
    f"{family} {seed}": lambda make=make, seed=seed: make(seed)
    for family, (make, count) in FAMILIES.items()
    for seed in range(count)
}
