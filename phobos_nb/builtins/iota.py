"""The built-in `iota`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.dtypes import I32, INDEX
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call
from phobos_nb.language.types import TileType

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def check(site: CallSite) -> Call:
    """One compile-time extent of at least 1."""
    operands.expect_count(site, 1)
    extent = operands.constant_int(site, 0)
    if extent < 1:
        raise site.diagnostics.error("PH109", f"iota wants an extent from 1, found {extent}", site.span)
    return Call(
        type=TileType(I32, (1, extent)),
        span=site.span,
        builtin=site.name,
        arguments=(),
        attributes={"extent": extent},
    )


def reference(machine: Any, call: Call) -> NDArray[Any]:  # noqa: ARG001
    """The row 0 .. n-1: [1, n]."""
    return np.arange(int(call.attributes["extent"]), dtype=np.int32)[None, :]


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:  # noqa: ARG001
    """The coordinates along the row, as i32."""
    from phobos_nb.ir.convert import convert
    from phobos_nb.ir.dialects.tile import CoordinateOp

    extent = int(call.attributes["extent"])
    return convert(builder, builder.value(CoordinateOp(1, (1, extent))), INDEX, I32)


SPEC = Builtin(
    name="iota",
    group="shape",
    signature="iota(n) -> tile<i32>[1, n]",
    doc="The row 0, 1, ... n-1.",
    check=check,
    reference=reference,
    build=build,
)
