"""The built-in `log`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import function, in_double

SPEC = function(
    "log",
    "The natural logarithm; 0 gives -inf, negative numbers give NaN. Within 2 ulp in f32.",
    in_double(np.log),
    lowering.math("log"),
)
