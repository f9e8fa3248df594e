"""The built-in `log`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families.elementwise import function, in_double
from phobos_nb.builtins.families.lowering import not_lowered

SPEC = function(
    "log",
    "The natural logarithm; 0 gives -inf, negative numbers give NaN. Within 2 ulp in f32.",
    in_double(np.log),
    not_lowered,
)
