"""How far an output may be from its right values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

UNITS = 128
"""Unit roundoffs of the largest right value that are allowed by default, 64 units in the last place."""


def unit_roundoff(dtype: np.dtype[Any]) -> float:
    """Half the distance of 1 to the next number; 0 for integers."""
    return 0.0 if dtype.kind in "iub" else float(cast(Any, ml_dtypes).finfo(dtype).eps) / 2


def largest(values: Array) -> float:
    """The largest finite size, 0 where there is none."""
    wide = np.asarray(values, np.float64)
    finite = np.abs(wide[np.isfinite(wide)])
    return float(finite.max(initial=0.0))


def default_tolerance(output: np.dtype[Any], right: Array) -> float:
    """64 units in the last place of the largest right value, in the type that is the narrower."""
    units = [unit_roundoff(d) for d in (output, right.dtype)]
    return UNITS * max(units) * largest(right)


def wrong_elements(output: Array, right: Array, tolerance: Any = None) -> NDArray[np.bool_]:
    """Which elements differ by more than the tolerance; of a larger one, its first part counts."""
    if output.dtype.kind in "iub":
        return np.asarray(output != right)
    if tolerance is None:
        tolerance = default_tolerance(output.dtype, right)
    elif np.ndim(tolerance):
        tolerance = np.asarray(tolerance)[tuple(map(slice, output.shape))]
    a, b = output.astype(np.float64), np.asarray(right, np.float64)
    with np.errstate(invalid="ignore"):
        close = (np.abs(a - b) <= tolerance) | (a == b) | (np.isnan(a) & np.isnan(b))
    return ~close


@dataclass(frozen=True)
class Standard:
    """The right outputs and how far from them one may be. asked: the caller's tolerance, if any."""

    right: Mapping[str, Array]
    asked: float | Mapping[str, Any] | None = None

    def tolerance(self, name: str) -> Any:
        """What was asked for a tensor: a number, an array, or None."""
        return cast(Any, self.asked)[name] if isinstance(self.asked, Mapping) else self.asked

    def differ(self, name: str, output: Array, right: Array) -> NDArray[np.bool_]:
        """Which elements of a tensor differ from others."""
        return wrong_elements(output, right, self.tolerance(name))

    def wrong(self, name: str, output: Array) -> NDArray[np.bool_]:
        """Which elements of a tensor are wrong."""
        return self.differ(name, output, self.right[name])

    def allowed(self, name: str, output: Array) -> Array:
        """The tolerance of every element, 0 for integers."""
        asked = self.tolerance(name)
        if output.dtype.kind in "iub":
            asked = 0.0
        elif asked is None:
            asked = default_tolerance(output.dtype, self.right[name])
        return np.broadcast_to(np.asarray(asked, np.float64), output.shape)

    def differ_anywhere(self, name: str, a: Array, b: Array) -> bool:
        """Whether two outputs for other arrays differ, by the largest of the call's tolerances."""
        asked = self.tolerance(name)
        if asked is not None:
            asked = max(float(np.max(asked, initial=0.0)), default_tolerance(a.dtype, b))
        return bool(wrong_elements(a, b, asked).any())
