"""The built-in `where`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.elementwise import call_of
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def check(site: CallSite) -> Call:
    """The condition is bool, the other two get a common dtype; all three stretch together."""
    operands.expect_count(site, 3)
    condition, *choices = (operands.value(site, k) for k in range(3))
    operands.wanted_dtype(site, condition, "bool")
    choices = operands.common(site, choices)
    return call_of(site, [condition, *choices], operands.dtype_of(choices[0]))


def reference(
    machine: Any,  # noqa: ARG001
    call: Call,  # noqa: ARG001
    condition: NDArray[Any],
    chosen: NDArray[Any],
    other: NDArray[Any],
) -> NDArray[Any]:
    """Both sides have been evaluated."""
    return np.where(condition, chosen, other)


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:  # noqa: ARG001
    """A select of the stretched operands."""
    from phobos_nb.ir.elementwise import choose

    return choose(builder, values[0], values[1], values[2])


SPEC = Builtin(
    name="where",
    group="elementwise",
    signature="where(condition, a, b)",
    doc="a where the condition holds, else b; both sides are evaluated.",
    check=check,
    reference=reference,
    build=build,
)
