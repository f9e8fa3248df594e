"""The built-in `flat`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call
from phobos_nb.language.types import TileType

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def check(site: CallSite) -> Call:
    """One tile of any rank and element type."""
    operands.expect_count(site, 1)
    tile = operands.tile(site, 0)
    kind = TileType(operands.dtype_of(tile), (math.prod(operands.shape_of(tile)),))
    return Call(type=kind, span=site.span, builtin=site.name, arguments=(tile,))


def reference(machine: Any, call: Call, tile: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG001
    """tile: [..] -> [product of its extents], row-major."""
    return tile.reshape(-1)


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
    """One `tile.reshape`."""
    from phobos_nb.ir.dialects.tile import ReshapeOp

    return builder.value(ReshapeOp(values[0], operands.shape_of(call)))


SPEC = Builtin(
    name="flat",
    group="shape",
    signature="flat(t: tile[R, C]) -> tile[R * C]",
    doc="The elements in row-major order as a rank-1 tile.",
    check=check,
    reference=reference,
    build=build,
)
