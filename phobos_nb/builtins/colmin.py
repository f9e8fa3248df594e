"""The built-in `colmin`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.reductions import along_columns, same_dtype

SPEC = along_columns(
    "colmin",
    "The smallest element of every column; NaN if the column holds one.",
    np.minimum,
    same_dtype,
    lowering.reduction("min"),
)
