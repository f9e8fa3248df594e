"""The built-in `shuffle_down`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.lanes import WARP, exchange
from phobos_nb.builtins.families.lowering import argument_dtype
from phobos_nb.language.typed import Call

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
    """A shuffle where the distance is below 32, else the own value."""
    from phobos_nb.ir.lanes import shuffle_down

    dtypes = operands.dtype_of(call), argument_dtype(call, 1)
    return shuffle_down(builder, values[0], dtypes[0], values[1], dtypes[1])


SPEC = exchange(
    "shuffle_down",
    "The value of the lane n above; a lane with none that far keeps its own.",
    "n",
    lambda own, n: np.where((n >= 0) & (own + n < WARP), own + n, own),
    build,
)
