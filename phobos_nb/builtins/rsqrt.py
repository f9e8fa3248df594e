"""The built-in `rsqrt`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import function, in_double


def rsqrt_of(x: NDArray[Any]) -> NDArray[Any]:
    """The reciprocal of the square root."""
    return 1.0 / np.sqrt(x)


SPEC = function(
    "rsqrt",
    "1 over the square root; 0 gives inf. Within 2 ulp in f32.",
    in_double(rsqrt_of),
    lowering.math("rsqrt"),
)
