"""The built-in `atomic_cas`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.atomics import expect_width, indexed, per_thread
from phobos_nb.builtins.families.lowering import indices
from phobos_nb.language.meaning.memory import Memory
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call
from phobos_nb.language.types import ScalarType, Uniformity

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def check(site: CallSite) -> Call:
    """A tensor of i32 or i64, its indices, the scalar expected and the scalar stored."""
    tensor, indices, values = indexed(site, 2)
    expect_width(site, tensor, integers_only=True)
    for k in range(2):
        operands.scalar(site, len(site.arguments) - 2 + k)
    dtype = tensor.type.dtype
    values = [operands.converted(site, v, dtype) for v in values]
    return Call(
        type=ScalarType(dtype),
        span=site.span,
        uniformity=Uniformity.LANE,
        builtin=site.name,
        arguments=(tensor, *indices, *values),
    )


def reference(machine: Any, call: Call, memory: Memory, *values: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG001
    """Thread after thread; gives the old values."""
    *indices, expected, stored = values

    def step(old: NDArray[Any], wanted: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
        return np.where(old == wanted, new, old)

    return per_thread(machine, memory, indices, (expected, stored), step)


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
    """One `tile.atomic_cas`."""
    from phobos_nb.ir.dialects.tile import AtomicCasOp

    where = indices(builder, call, values, len(values) - 3)
    return builder.value(AtomicCasOp(values[-2], values[-1], values[0], where))


SPEC = Builtin(
    name="atomic_cas",
    group="tensor",
    signature="atomic_cas(A: tensor, i[, j ...], expected, new)",
    doc="Stores `new` where the element equals `expected`; returns the old value.",
    check=check,
    reference=reference,
    build=build,
    pure=False,
    writes=True,
)
