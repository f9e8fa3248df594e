"""The built-in `gather`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.lowering import argument_dtype
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call
from phobos_nb.language.types import TileType

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


INSTEAD = "read a shared array element by element: `s[i]`"


def check(site: CallSite) -> Call:
    """A rank-1 tensor and a tile of integers."""
    operands.expect_count(site, 2)
    table, index = operands.tensor(site, 0, INSTEAD), operands.tile(site, 1)
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


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
    """One `tile.gather` at the positions as indices."""
    from phobos_nb.ir.convert import to_index
    from phobos_nb.ir.dialects.tile import GatherOp

    positions = to_index(builder, values[1], argument_dtype(call, 1))
    return builder.value(GatherOp(values[0], positions))


SPEC = Builtin(
    name="gather",
    group="shape",
    signature="gather(table: tensor[N], index: tile[R, C]) -> tile[R, C]",
    doc="table[index], elementwise; zero where an index lies outside the table.",
    check=check,
    reference=reference,
    build=build,
    pure=False,
)
