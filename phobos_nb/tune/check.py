"""Whether a configuration's outputs are right: against expected values, and nothing left unwritten."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from phobos_nb.contract import TensorParameter

WORST = 64.0
"""How many times the tolerance one element may be off, relative to itself and the outputs' RMS.

Rounding errors of one output are near normal; among 2^28 elements the largest is about 6 standard
deviations. A wrong step of a sum, or a neighbour's value, is off by a large part of the RMS.
"""


@dataclass(frozen=True)
class Expected:
    """What one output should hold. values: float64, or integers for integer outputs.

    known: where `values` says something, None for everywhere.
    """

    values: Any
    known: Any = None


def tolerance_of(parameters: Iterable[TensorParameter], rounded: bool) -> float:
    """The relative error that right outputs stay below: by the narrowest float that takes part.

    64-bit floats 1e-12, f32 1e-5 (sqrt(K) * 2^-24 at K = 8192, with room), f16 2e-3, bf16 2e-2;
    `rounded`: f32 operands are rounded for tensor cores, 2e-3. Integers alone: 0.
    """
    widths = {"f64": 1e-12, "f32": 1e-5, "f16": 2e-3, "bf16": 2e-2}
    found = [widths[p.dtype] for p in parameters if p.dtype in widths]
    return max([*found, 2e-3] if rounded and found else found, default=0.0)


def poison(array: Any) -> None:
    """Fill with what no kernel may leave behind: NaN, or the smallest integer."""
    kind = array.dtype.kind
    if array.dtype.name == "bfloat16":
        array.view("uint16").fill(0x7FC0)
    elif kind == "f":
        array.fill(math.nan)
    elif kind in "iu":
        array.fill(np.iinfo(array.dtype).min if kind == "i" else np.iinfo(array.dtype).max)
    elif kind == "b":
        array.view("uint8").fill(0xFF)


def wide(array: Any) -> Any:
    """The array in float64."""
    if array.dtype.name == "bfloat16":  # CuPy cannot convert it: its bits are the upper half of an f32
        array = (array.view("uint16").astype("uint32") << 16).view("float32")
    return array.astype("float64")


def complaint(
    found: Mapping[str, Any], expected: Mapping[str, Expected], tolerance: float
) -> tuple[float, str]:
    """The largest relative error of all outputs, and what is wrong with them, empty if nothing."""
    worst, text = 0.0, ""
    for name, wanted in expected.items():
        error, problem = _one(found[name], wanted, tolerance)
        worst = max(worst, error)
        text = text or (f"{name}: {problem}" if problem else "")
    return worst, text


def _one(found: Any, expected: Expected, tolerance: float) -> tuple[float, str]:
    values = found if expected.known is None else found[expected.known]
    wanted = expected.values if expected.known is None else expected.values[expected.known]
    if values.size == 0:
        return 0.0, ""
    if values.dtype.kind in "iub":
        wrong = int((values != wanted).sum())
        return float(wrong > 0), f"{wrong} of {values.size} elements are wrong" if wrong else ""
    return _floats(wide(values), wide(wanted), tolerance)


def _floats(values: Any, wanted: Any, tolerance: float) -> tuple[float, str]:
    lost = int(((values != values) & (wanted == wanted)).sum())
    if lost:
        return math.inf, f"{lost} of {values.size} elements are NaN, or were never written"
    extra = int(((values == values) & (wanted != wanted)).sum())
    if extra:
        return (
            math.inf,
            f"{extra} of {values.size} elements hold a value where the right answer has none",
        )
    same = (values == wanted) | ((values != values) & (wanted != wanted))
    gap = abs(values - wanted)
    gap[same] = 0.0
    finite = abs(wanted) < math.inf
    size = float((wanted[finite] ** 2).sum())
    rms = math.sqrt(size / max(1, int(finite.sum()))) or 1.0
    error = math.sqrt(float((gap**2).sum()) / values.size) / rms
    if not error <= tolerance:
        return error, f"relative error {error:.2e}, tolerance {tolerance:.0e}"
    scaled = gap / (rms + abs(wanted))
    scaled[same] = 0.0
    off = int((scaled > WORST * tolerance).sum())
    if off:
        return error, f"{off} of {values.size} elements are off by up to {float(gap.max()):.3g}"
    return error, ""
