"""Whether wrong values are right but for rounding: the source run with all its floats wider says.

Note [Roundings]
In f64 what a source means has hardly any roundings. If it is right there, no operation and no index is
wrong, and all of the error is rounding. If the error is the same when all of the source's floats are
f32, the types that it declares are not the cause: that is what f32 makes of this sum or cancellation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phobos_nb.simulate.mending import REFUSED
from phobos_nb.simulate.tolerance import default_tolerance, largest, unit_roundoff
from phobos_nb.simulate.trial import Array, Meaning, Question

ROUNDED = 2.0**-7
"""Errors up to this part of the largest wanted value may be those of rounding to bf16 or wider."""
FEW = 0.01
"""Part of the elements of which a rounded integer may fall on the other side."""
WORTH = 0.1
"""Roundings from which the number is told."""
AS_LARGE = 8.0
"""An error is as large as another one up to this factor: sums in another order round otherwise."""
DIGITS = 2.0**-10
"""Part of the largest right value up to which rounding that f32 cannot avoid is no difference."""


@dataclass(frozen=True)
class Rounding:
    """Errors, the largest each: found in the output; of the source with all floats f64; with f32.

    single: None where it is not known. allowed: what is no difference. size: the largest right value.
    narrow: the narrowest float type of the source, empty for integers. units: the error in roundings
    to it.
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
        exact = (
            f"with all floats f64 the same source is right to {self.double:.1g}, so no operation and no "
            "index is wrong"
        )
        if not self.narrow:
            off = f"integers off by {self.found:.0f}, made from floats next to the edge between two"
            return f"{off}; {exact}"
        text = f"largest error {self.found:.3g}, {self.allowed:.3g} is allowed; {exact}"
        if self.single is None:
            return text
        if self.inherent:
            return (
                f"{text}; with all floats f32 the error is {self.single:.3g}, no less: a long sum, or "
                "nearly equal numbers subtracted"
            )
        text += f"; with all floats f32 the error is {self.single:.1g}: a narrower type is at fault"
        if self.units > WORTH:
            text += f", {self.units:.1f} roundings to {self.narrow} of the largest value"
        return text


def rounding(question: Question) -> Rounding | None:
    """The errors, if the wrong values are right but for rounding; None if not, or if it is not known."""
    text = question.trial.text
    double = None if text is None else text.floats("f64")
    if text is None or double is None:
        return None
    if question.found.dtype.kind in "iub":
        return _of_integers(question, double)
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
    if not _of_the_source(question):
        return None
    double_error = error(exact, right)
    if not _same_beyond(question.found, right) or not _same_beyond(exact, right):
        return None
    if double_error > tolerance:
        return None
    return _judged(question, double_error, None if narrow is None else error(narrow, right))


def _of_the_source(question: Question) -> bool:
    """Whether the source's own roundings are as large: else the compiled kernel does something else."""
    own = error(question.meant, question.right)
    return error(question.found, question.right) <= AS_LARGE * own


def _of_integers(question: Question, double: Meaning) -> Rounding | None:
    """Few integers off by one, which floats gave: a number next to the edge between two."""
    try:
        exact = double(question.trial.arrays)[question.name]
    except REFUSED:
        return None
    worst = error(question.found, question.right)
    if question.differ(exact, question.right).any() or worst > 1:
        return None
    size = worst / DIGITS if question.wrong.mean() <= FEW else 0.0  # so many are harmless
    return Rounding(worst, 0.0, None, 0.0, size, "", 0.0)


def _judged(question: Question, double: float, single: float | None) -> Rounding:
    found, size = error(question.found, question.right), largest(question.right)
    allowed = float(np.max(question.standard.allowed(question.name, question.found)))
    text = question.trial.text
    narrow, unit = (text.narrow if text else None) or ("f32", unit_roundoff(np.dtype(np.float32)))
    units = found / (unit * size) if size else 0.0
    return Rounding(found, double, single, allowed, size, narrow, units)


def error(output: Array, right: Array) -> float:
    """The largest difference where both are finite."""
    a, b = (np.asarray(x, np.float64) for x in (output, right))
    both = np.isfinite(a) & np.isfinite(b)
    return float(np.abs(a[both] - b[both]).max(initial=0.0))


def like_rounding(output: Array, right: Array, wrong: NDArray[np.bool_]) -> bool:
    """Whether errors are no larger than those of an 8-bit significand, and not all one way."""
    errors = (np.asarray(output, np.float64) - np.asarray(right, np.float64))[wrong]
    sizes = np.abs(errors)
    if not np.isfinite(sizes).all() or float(sizes.max()) > largest(right) * ROUNDED:
        return False
    return len(errors) < 8 or abs(float(errors.mean())) < 0.5 * float(sizes.mean())


def overflows(output: Array, right: Array) -> bool:
    """Whether right values are finite where wrong ones are not, or integers differ by wrapping."""
    if output.dtype.kind in "iub":
        return error(output, right) > 1
    return not _finite_alike(output, right)


def _same_beyond(output: Array, right: Array) -> bool:
    """Whether what is not finite is the same: infinities of one sign, or NaN."""
    a, b = (np.asarray(x, np.float64) for x in (output, right))
    finite = np.isfinite(a) & np.isfinite(b)
    return bool(np.all(finite | (a == b) | (np.isnan(a) & np.isnan(b))))


def _finite_alike(output: Array, right: Array) -> bool:
    a, b = (np.isfinite(np.asarray(x, np.float64)) for x in (output, right))
    return bool((a == b).all())
