"""The built-in `floor`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import function

SPEC = function(
    "floor",
    "The largest whole number that is not above x.",
    np.floor,
    lowering.math("floor"),
    zero_preserving=True,
)
