"""The built-in `block_sum`."""

from __future__ import annotations

import numpy as np

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.lanes import over_block
from phobos_nb.builtins.families.reductions import sum_dtype

SPEC = over_block(
    "block_sum",
    "The sum over all threads of the CTA; f16 and bf16 give f32, i8 and u8 give i32.",
    np.add,
    sum_dtype,
    lowering.over_block("add"),
)
