"""The built-in `sqrt`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import function

SPEC = function(
    "sqrt",
    "The square root, correctly rounded; negative numbers give NaN.",
    np.sqrt,
    lowering.math("sqrt"),
    zero_preserving=True,
)
