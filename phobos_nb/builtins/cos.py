"""The built-in `cos`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import function, in_double

SPEC = function(
    "cos",
    "The cosine of x radians. Within 2 ulp in f32.",
    in_double(np.cos),
    lowering.math("cos"),
)
