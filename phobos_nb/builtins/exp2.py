"""The built-in `exp2`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families.elementwise import function, in_double
from phobos_nb.builtins.families.lowering import not_lowered

SPEC = function(
    "exp2",
    "2 to the power x. Within 2 ulp in f32.",
    in_double(np.exp2),
    not_lowered,
)
