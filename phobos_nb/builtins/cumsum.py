"""The built-in `cumsum`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.lowering import argument_dtype
from phobos_nb.builtins.families.reductions import sum_dtype
from phobos_nb.language.meaning.conversion import numpy_dtype
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call
from phobos_nb.language.types import TileType

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def check(site: CallSite) -> Call:
    """One rank-2 tile of numbers; the result has the dtype of a sum."""
    operands.expect_count(site, 1)
    tile = operands.rows(site, 0)
    dtype = sum_dtype(operands.wanted_dtype(site, tile, "number"))
    kind = TileType(dtype, operands.shape_of(tile))
    return Call(type=kind, span=site.span, builtin=site.name, arguments=(tile,))


def reference(machine: Any, call: Call, tile: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG001
    """tile: [r, c] -> [r, c]; row i is the sum of the rows 0 to i."""
    working = numpy_dtype(operands.dtype_of(call))
    return np.cumsum(tile.astype(working, copy=False), axis=0, dtype=working)


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
    """One `tile.scan` down the rows, in the result's dtype."""
    from phobos_nb.ir.combine import combining_kind
    from phobos_nb.ir.convert import convert
    from phobos_nb.ir.dialects.tile import ScanOp

    dtype = operands.dtype_of(call)
    tile = convert(builder, values[0], argument_dtype(call), dtype)
    return builder.value(ScanOp(combining_kind("add", dtype), tile, 0))


SPEC = Builtin(
    name="cumsum",
    group="shape",
    signature="cumsum(t: tile[R, C]) -> tile[R, C]",
    doc="Running sums down the rows; NaN stays; f16 and bf16 give f32, i8 and u8 give i32.",
    check=check,
    reference=reference,
    build=build,
)
