"""The built-in `round`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families.elementwise import function
from phobos_nb.builtins.families.lowering import not_lowered

SPEC = function(
    "round",
    "The nearest whole number, halves to the even one.",
    np.rint,
    not_lowered,
    zero_preserving=True,
)
