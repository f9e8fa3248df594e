"""The built-in `tanh`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import function, in_double

SPEC = function(
    "tanh",
    "The hyperbolic tangent. Within 2 ulp in f32.",
    in_double(np.tanh),
    lowering.math("tanh"),
    zero_preserving=True,
)
