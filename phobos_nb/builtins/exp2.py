"""The built-in `exp2`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import function, in_double

SPEC = function(
    "exp2",
    "2 to the power x. Within 2 ulp in f32.",
    in_double(np.exp2),
    lowering.math("exp2"),
)
