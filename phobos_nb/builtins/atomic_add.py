"""The built-in `atomic_add`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.atomics import atomic

SPEC = atomic(
    "atomic_add",
    "Adds v to an element: a scalar returns the old value, a tile is added from there on.",
    np.add,
    lowering.atomic("add"),
)
