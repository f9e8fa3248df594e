"""The built-in `popcount`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.elementwise import call_of
from phobos_nb.builtins.families.lowering import argument_dtype
from phobos_nb.dtypes import I32, I64, INDEX
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def check(site: CallSite) -> Call:
    """One integer, scalar or tile."""
    operands.expect_count(site, 1)
    value = operands.value(site, 0)
    operands.wanted_dtype(site, value, "integer")
    return call_of(site, [value], I32)


def reference(machine: Any, call: Call, value: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG001
    """The bytes of each element as bits, summed."""
    value = np.ascontiguousarray(value)
    octets = value.reshape(-1).view(np.uint8).reshape(value.size, value.dtype.itemsize)
    return np.unpackbits(octets, axis=1).sum(axis=1).astype(np.int32).reshape(value.shape)


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
    """One `math.ctpop`; an index counts as i64."""
    from xdsl.dialects.math import CtPopOp

    from phobos_nb.ir.convert import convert

    dtype = argument_dtype(call)
    counted = I64 if dtype == INDEX else dtype
    bits = builder.value(CtPopOp(convert(builder, values[0], dtype, counted)))
    return convert(builder, bits, counted, I32)


SPEC = Builtin(
    name="popcount",
    group="bits",
    signature="popcount(x) -> i32",
    doc="How many bits of an integer's two's complement are set.",
    check=check,
    reference=reference,
    build=build,
    zero_preserving=True,
)
