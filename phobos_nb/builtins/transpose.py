"""The built-in `transpose`."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.lowering import not_lowered
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call
from phobos_nb.language.types import TileType


def check(site: CallSite) -> Call:
    """One rank-2 tile of any element type; rank 1 counts as one row."""
    operands.expect_count(site, 1)
    tile = operands.rows(site, 0)
    kind = TileType(operands.dtype_of(tile), operands.shape_of(tile)[::-1])
    return Call(type=kind, span=site.span, builtin=site.name, arguments=(tile,))


def reference(machine: Any, call: Call, tile: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG001
    """tile: [r, c] -> [c, r]."""
    return tile.T


SPEC = Builtin(
    name="transpose",
    group="shape",
    signature="transpose(t: tile[R, C]) -> tile[C, R]",
    doc="Rows become columns.",
    check=check,
    reference=reference,
    build=not_lowered,
)
