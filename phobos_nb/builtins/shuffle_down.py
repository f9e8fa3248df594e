"""The built-in `shuffle_down`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families.lanes import WARP, exchange
from phobos_nb.builtins.families.lowering import not_lowered

SPEC = exchange(
    "shuffle_down",
    "The value of the lane n above; a lane with none that far keeps its own.",
    "n",
    lambda own, n: np.where((n >= 0) & (own + n < WARP), own + n, own),
    not_lowered,
)
