"""The built-in `exp`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families.elementwise import function, in_double
from phobos_nb.builtins.families.lowering import not_lowered

SPEC = function(
    "exp",
    "e to the power x; NaN gives NaN, overflow gives inf. Within 2 ulp in f32.",
    in_double(np.exp),
    not_lowered,
)
