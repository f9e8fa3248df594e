"""The built-in `byteperm`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.elementwise import call_of
from phobos_nb.dtypes import I32
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def check(site: CallSite) -> Call:
    """Three integers, taken as i32."""
    operands.expect_count(site, 3)
    values = [operands.value(site, k) for k in range(3)]
    for value in values:
        operands.wanted_dtype(site, value, "integer")
    return call_of(site, [operands.converted(site, v, I32) for v in values], I32)


def reference(
    machine: Any,  # noqa: ARG001
    call: Call,  # noqa: ARG001
    low: NDArray[Any],
    high: NDArray[Any],
    selector: NDArray[Any],
) -> NDArray[Any]:
    """Bytes 0-3 are those of `low`, 4-7 those of `high`."""
    pool = low.astype(np.uint32).astype(np.uint64) | (high.astype(np.uint32).astype(np.uint64) << 32)
    out = np.zeros(np.broadcast_shapes(pool.shape, selector.shape), np.uint64)
    for position in range(4):
        digit = (selector.astype(np.uint64) >> np.uint64(4 * position)) & np.uint64(7)
        byte = (pool >> (digit * np.uint64(8))) & np.uint64(0xFF)
        out = out | (byte << np.uint64(8 * position))
    return out.astype(np.uint32).astype(np.int32)


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:  # noqa: ARG001
    """Shifts and masks on the eight bytes as one i64."""
    from phobos_nb.ir.elementwise import together
    from phobos_nb.ir.permute import byte_permute

    low, high, selector = together(builder, values)
    return byte_permute(builder, low, high, selector)


SPEC = Builtin(
    name="byteperm",
    group="bits",
    signature="byteperm(a, b, selector) -> i32",
    doc=(
        "Four bytes picked from the eight of a (0-3) and b (4-7); the low three bits of nibble k of the "
        "selector pick byte k. As CUDA's __byte_perm."
    ),
    check=check,
    reference=reference,
    build=build,
)
