"""The built-in `sin`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families.elementwise import function, in_double
from phobos_nb.builtins.families.lowering import not_lowered

SPEC = function(
    "sin",
    "The sine of x radians. Within 2 ulp in f32.",
    in_double(np.sin),
    not_lowered,
    zero_preserving=True,
)
