"""The built-in `abs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.elementwise import check, computed
from phobos_nb.language.registry import Builtin
from phobos_nb.language.typed import Call

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
    """Floats clear the sign, integers take the larger of x and -x."""
    from phobos_nb.ir.elementwise import magnitude

    return magnitude(builder, operands.dtype_of(call), values[0])


SPEC = Builtin(
    name="abs",
    group="elementwise",
    signature="abs(x)",
    doc="The magnitude of a float or integer; the most negative integer wraps to itself.",
    check=check(1, "number"),
    reference=computed(np.abs),
    build=build,
    zero_preserving=True,
)
