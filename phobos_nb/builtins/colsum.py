"""The built-in `colsum`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.reductions import along_columns, sum_dtype

SPEC = along_columns(
    "colsum",
    "The sum of every column; f16 and bf16 accumulate in f32 and give f32, i8 and u8 give i32.",
    np.add,
    sum_dtype,
    lowering.reduction("add"),
)
