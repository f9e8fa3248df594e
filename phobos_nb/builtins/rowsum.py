"""The built-in `rowsum`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.reductions import along_rows, sum_dtype

SPEC = along_rows(
    "rowsum",
    "The sum of every row; f16 and bf16 accumulate in f32 and give f32, i8 and u8 give i32.",
    np.add,
    sum_dtype,
    lowering.reduction("add"),
)
