"""The built-in `ceil`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families.elementwise import function
from phobos_nb.builtins.families.lowering import not_lowered

SPEC = function(
    "ceil",
    "The smallest whole number that is not below x.",
    np.ceil,
    not_lowered,
    zero_preserving=True,
)
