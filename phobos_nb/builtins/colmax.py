"""The built-in `colmax`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.reductions import along_columns, same_dtype

SPEC = along_columns(
    "colmax",
    "The largest element of every column; NaN if the column holds one.",
    np.maximum,
    same_dtype,
    lowering.reduction("max"),
)
