"""The built-in `erf`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import function


def error_function(x: NDArray[Any]) -> NDArray[Any]:
    """The error function in f64, elementwise; NumPy has none."""
    values = [math.erf(v) for v in x.astype(np.float64).ravel().tolist()]
    return np.array(values, np.float64).reshape(x.shape)


SPEC = function(
    "erf",
    "The error function. Within 2 ulp in f32.",
    error_function,
    lowering.math("erf"),
    zero_preserving=True,
)
