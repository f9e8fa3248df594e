"""The built-in `pow`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families.elementwise import check, computed, in_double
from phobos_nb.builtins.families.lowering import not_lowered
from phobos_nb.language.registry import Builtin

SPEC = Builtin(
    name="pow",
    group="elementwise",
    signature="pow(x, y)",
    doc="x to the power y, floats; a negative x wants a whole y, else NaN. Within 4 ulp in f32.",
    check=check(2, "float"),
    reference=computed(in_double(np.power)),
    build=not_lowered,
)
