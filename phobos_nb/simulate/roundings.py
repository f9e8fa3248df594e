"""Whether wrong values are right but for rounding: the source run with all its floats wider says.

Note [Roundings]
In f64 what a source means has hardly any roundings. If it is right there, no operation and no index is
wrong, and all of the error is rounding. If the error is the same when all of the source's floats are
f32, the types that it declares are not the cause: that is what f32 makes of this sum or cancellation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phobos_nb.simulate.mending import REFUSED
from phobos_nb.simulate.tolerance import default_tolerance, largest, unit_roundoff
from phobos_nb.simulate.trial import Array, Question

AS_LARGE = 4.0
"""An error is as large as another one up to this factor."""
DIGITS = 2.0**-10
"""Part of the largest right value up to which rounding that f32 cannot avoid is no difference."""


@dataclass(frozen=True)
class Rounding:
    """Errors, the largest each: found in the output; of the source with all floats f64; with f32.

    single: None where nothing in the source is narrower than f32, so that it is the same. allowed: what
    is no difference. size: the largest right value. narrow: the type in which the error is a few units.
    """

    found: float
    double: float
    single: float | None
    allowed: float
    size: float
    narrow: str
    units: float

    @property
    def inherent(self) -> bool:
        """Whether f32 itself loses as much, whatever the types that the source declares."""
        return self.single is None or self.found <= AS_LARGE * self.single

    @property
    def harmless(self) -> bool:
        """Whether it is no difference at all: f32 cannot do better, and three digits are right."""
        return self.inherent and self.found <= DIGITS * self.size

    def __str__(self) -> str:
        text = (
            f"largest error {self.found:.3g}, allowed {self.allowed:.3g}; with all floats f64 the same "
            f"source is right to {self.double:.1g}, so no operation and no index is wrong"
        )
        if self.inherent:
            return f"{text}; f32 alone loses as much: a long sum, or nearly equal numbers subtracted"
        assert self.single is not None
        return (
            f"{text}; with all floats f32 the error is {self.single:.1g}: a narrower type is at fault, "
            f"the error is {self.units:.1f} units of {self.narrow}"
        )


def rounding(question: Question) -> Rounding | None:
    """The errors, if the wrong values are right but for rounding; None if not, or if it is not known."""
    text = question.trial.text
    double = None if text is None else text.floats("f64")
    if text is None or double is None or question.found.dtype.kind in "iub":
        return None
    right = question.right
    try:
        exact = np.asarray(double(question.trial.arrays)[question.name], np.float64)
        single = text.floats("f32")
        narrow = None if single is None else single(question.trial.arrays)[question.name]
    except REFUSED:
        return None
    tolerance = min(
        default_tolerance(np.dtype(np.float32), right), default_tolerance(question.found.dtype, right)
    )
    if not _finite_alike(question.found, right) or question.standard.wrong(question.name, exact).any():
        return None
    double_error = _error(exact, right)
    if double_error > tolerance:
        return None
    return _judged(question, double_error, None if narrow is None else _error(narrow, right))


def _judged(question: Question, double: float, single: float | None) -> Rounding:
    found, size = _error(question.found, question.right), largest(question.right)
    allowed = float(np.max(question.standard.allowed(question.name, question.found)))
    narrow = next((n for n, u in NARROW.items() if found <= 64 * u * size), "bf16")
    units = found / (NARROW[narrow] * size) if size else 0.0
    return Rounding(found, double, single, allowed, size, narrow, units)


NARROW = {"f32": unit_roundoff(np.dtype(np.float32)), "f16": 2.0**-11, "bf16": 2.0**-8}
"""Unit roundoffs."""


def _error(output: Array, right: Array) -> float:
    a, b = (np.asarray(x, np.float64) for x in (output, right))
    both = np.isfinite(a) & np.isfinite(b)
    return float(np.abs(a[both] - b[both]).max(initial=0.0))


def _finite_alike(output: Array, right: Array) -> bool:
    a, b = (np.isfinite(np.asarray(x, np.float64)) for x in (output, right))
    return bool((a == b).all())
