"""The built-in `rowmax`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.reductions import along_rows, same_dtype

SPEC = along_rows(
    "rowmax",
    "The largest element of every row; NaN if the row holds one.",
    np.maximum,
    same_dtype,
    lowering.reduction("max"),
)
