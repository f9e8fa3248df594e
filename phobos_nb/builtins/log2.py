"""The built-in `log2`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import function, in_double

SPEC = function(
    "log2",
    "The logarithm to base 2; 0 gives -inf, negative numbers give NaN. Within 2 ulp in f32.",
    in_double(np.log2),
    lowering.math("log2"),
)
