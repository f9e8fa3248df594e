"""The built-in `sin`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import function, in_double

SPEC = function(
    "sin",
    "The sine of x radians. Within 2 ulp in f32.",
    in_double(np.sin),
    lowering.math("sin"),
    zero_preserving=True,
)
