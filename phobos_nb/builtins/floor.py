"""The built-in `floor`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families.elementwise import function
from phobos_nb.builtins.families.lowering import not_lowered

SPEC = function(
    "floor",
    "The largest whole number that is not above x.",
    np.floor,
    not_lowered,
    zero_preserving=True,
)
