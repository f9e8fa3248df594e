"""The built-in `sqrt`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families.elementwise import function
from phobos_nb.builtins.families.lowering import not_lowered

SPEC = function(
    "sqrt",
    "The square root, correctly rounded; negative numbers give NaN.",
    np.sqrt,
    not_lowered,
    zero_preserving=True,
)
