"""The built-in `round`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import function

SPEC = function(
    "round",
    "The nearest whole number, halves to the even one.",
    np.rint,
    lowering.math("round"),
    zero_preserving=True,
)
