"""The built-in `exp`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import function, in_double

SPEC = function(
    "exp",
    "e to the power x; NaN gives NaN, overflow gives inf. Within 2 ulp in f32.",
    in_double(np.exp),
    lowering.math("exp"),
)
