"""The built-in `gather`."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.lowering import not_lowered
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call
from phobos_nb.language.types import TileType


def check(site: CallSite) -> Call:
    """A rank-1 tensor and a tile of integers."""
    operands.expect_count(site, 2)
    table, index = operands.tensor(site, 0), operands.tile(site, 1)
    operands.wanted_dtype(site, index, "integer")
    if len(table.type.dims) != 1:
        raise site.diagnostics.error(
            "PH104", f"gather wants a rank-1 table, found {table.type}", table.span
        )
    kind = TileType(table.type.dtype, operands.shape_of(index))
    return Call(type=kind, span=site.span, builtin=site.name, arguments=(table, index))


def reference(machine: Any, call: Call, table: Any, index: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG001
    """table: [n], index: [..] -> [..]; zero where the index lies outside."""
    return table.read((index,))


SPEC = Builtin(
    name="gather",
    group="shape",
    signature="gather(table: tensor[N], index: tile[R, C]) -> tile[R, C]",
    doc="table[index], elementwise; zero where an index lies outside the table.",
    check=check,
    reference=reference,
    build=not_lowered,
    pure=False,
)
