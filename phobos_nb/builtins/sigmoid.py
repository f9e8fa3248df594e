"""The built-in `sigmoid`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families.elementwise import function, in_double
from phobos_nb.builtins.families.lowering import not_lowered


def sigmoid_of(x: NDArray[Any]) -> NDArray[Any]:
    """The logistic function."""
    return 1.0 / (1.0 + np.exp(-x))


SPEC = function(
    "sigmoid",
    "1 / (1 + exp(-x)). Within 4 ulp in f32.",
    in_double(sigmoid_of),
    not_lowered,
)
