"""The built-in `cos`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families.elementwise import function, in_double
from phobos_nb.builtins.families.lowering import not_lowered

SPEC = function(
    "cos",
    "The cosine of x radians. Within 2 ulp in f32.",
    in_double(np.cos),
    not_lowered,
)
