"""The built-in `extent`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from phobos_nb.builtins.families import operands
from phobos_nb.dtypes import INDEX
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call
from phobos_nb.language.types import ScalarType

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def check(site: CallSite) -> Call:
    """A tensor and a compile-time axis; `attributes["dim"]` is its extent or the symbol of it."""
    operands.expect_count(site, 2)
    tensor, axis = operands.tensor(site, 0), operands.constant_int(site, 1)
    rank = len(tensor.type.dims)
    if not 0 <= axis < rank:
        message = f"{tensor.name} has axes 0 to {rank - 1}, found axis {axis}"
        raise site.diagnostics.error("PH104", message, site.span)
    return Call(
        type=ScalarType(INDEX),
        span=site.span,
        builtin=site.name,
        arguments=(tensor,),
        attributes={"axis": axis, "dim": tensor.type.dims[axis]},
    )


def reference(machine: Any, call: Call, tensor: Any) -> Any:  # noqa: ARG001
    """The extent of the array that was passed."""
    return np.int64(tensor.array.shape[int(call.attributes["axis"])])


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:  # noqa: ARG001
    """The constant extent, or the kernel's argument for the symbol."""
    from phobos_nb.ir.dialects.tile import KernelOp

    dim = call.attributes["dim"]
    if not isinstance(dim, str):
        return builder.index(int(dim))
    kernel = builder.home.parent_op()
    assert isinstance(kernel, KernelOp)
    return kernel.symbol_arguments[dim]


SPEC = Builtin(
    name="extent",
    group="tensor",
    signature="extent(A: tensor, axis) -> index",
    doc="The run-time extent of an axis of a tensor.",
    check=check,
    reference=reference,
    build=build,
)
