"""The built-in `abs`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families.elementwise import check, computed
from phobos_nb.builtins.families.lowering import not_lowered
from phobos_nb.language.registry import Builtin

SPEC = Builtin(
    name="abs",
    group="elementwise",
    signature="abs(x)",
    doc="The magnitude of a float or integer; the most negative integer wraps to itself.",
    check=check(1, "number"),
    reference=computed(np.abs),
    build=not_lowered,
    zero_preserving=True,
)
