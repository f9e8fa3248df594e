"""The built-in `sigmoid`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.elementwise import function, in_double
from phobos_nb.language.typed import Call

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def sigmoid_of(x: NDArray[Any]) -> NDArray[Any]:
    """The logistic function."""
    return 1.0 / (1.0 + np.exp(-x))


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
    """By its definition, f16 and bf16 in f32."""
    from phobos_nb.ir.elementwise import sigmoid

    return sigmoid(builder, operands.dtype_of(call), values[0])


SPEC = function(
    "sigmoid",
    "1 / (1 + exp(-x)). Within 4 ulp in f32.",
    in_double(sigmoid_of),
    build,
)
