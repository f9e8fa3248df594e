"""The built-in `rowargmax`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families.lowering import argument_dtype
from phobos_nb.builtins.families.reductions import check
from phobos_nb.dtypes import I32
from phobos_nb.language.registry import Builtin
from phobos_nb.language.typed import Call

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def reference(machine: Any, call: Call, tile: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG001
    """NumPy's own rule is the language's: the first NaN, else the first of equal maxima."""
    order = tile.astype(np.float64) if tile.dtype.kind not in "iu" else tile
    return np.argmax(order, axis=1, keepdims=True).astype(np.int32)


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
    """One `tile.argmax` along the rows."""
    from phobos_nb.ir.dialects.tile import ArgmaxOp
    from phobos_nb.ir.elementwise import is_unsigned

    return builder.value(ArgmaxOp(values[0], 1, is_unsigned=is_unsigned(argument_dtype(call))))


SPEC = Builtin(
    name="rowargmax",
    group="reduction",
    signature="rowargmax(t: tile[R, C]) -> tile<i32>[R, 1]",
    doc="The column of the largest element of every row: the first NaN, else the first of equal maxima.",
    check=check(1, lambda dtype: I32),  # noqa: ARG005
    reference=reference,
    build=build,
)
