"""The built-in `transpose`."""

from __future__ import annotations

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
    """One rank-2 tile of any element type; rank 1 counts as one row."""
    operands.expect_count(site, 1)
    tile = operands.rows(site, 0)
    kind = TileType(operands.dtype_of(tile), operands.shape_of(tile)[::-1])
    return Call(type=kind, span=site.span, builtin=site.name, arguments=(tile,))


def reference(machine: Any, call: Call, tile: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG001
    """tile: [r, c] -> [c, r]."""
    return tile.T


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:  # noqa: ARG001
    """One `tile.transpose`."""
    from phobos_nb.ir.dialects.tile import TransposeOp

    return builder.value(TransposeOp(values[0]))


SPEC = Builtin(
    name="transpose",
    group="shape",
    signature="transpose(t: tile[R, C]) -> tile[C, R]",
    doc="Rows become columns.",
    check=check,
    reference=reference,
    build=build,
)
