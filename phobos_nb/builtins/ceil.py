"""The built-in `ceil`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import function

SPEC = function(
    "ceil",
    "The smallest whole number that is not below x.",
    np.ceil,
    lowering.math("ceil"),
    zero_preserving=True,
)
