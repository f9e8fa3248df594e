"""The built-in `pow`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.elementwise import check, computed, in_double
from phobos_nb.language.registry import Builtin
from phobos_nb.language.typed import Call

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
    """One `math.powf`, for f16 and bf16 in f32."""
    from phobos_nb.ir.elementwise import power

    return power(builder, operands.dtype_of(call), values[0], values[1])


SPEC = Builtin(
    name="pow",
    group="elementwise",
    signature="pow(x, y)",
    doc="x to the power y, floats; a negative x wants a whole y, else NaN. Within 4 ulp in f32.",
    check=check(2, "float"),
    reference=computed(in_double(np.power)),
    build=build,
)
