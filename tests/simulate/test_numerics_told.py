"""`compare` and rounding: right kernels with awkward numbers are never accused, and numbers say why."""

import re

import numpy as np
import pytest

import phobos_nb as ph
from tests.simulate.numerics_texts import CASES, PRODUCT


def compared(name, *, function):
    """What is said of a case."""
    case = CASES[name]
    arguments = case.arguments(np.random.default_rng(3))
    ref = case.right if function else case.right(arguments)
    options = {"grid": case.grid} if case.grid else {}
    (kernel,) = ph.compile(case.text)
    return kernel.compare(**arguments, ref=ref, **options)


@pytest.mark.parametrize("function", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_a_right_kernel_is_not_accused(name, function):
    """Nothing is said but where f32 keeps no three digits, and then it is called rounding."""
    found = compared(name, function=function)
    if CASES[name].said:
        assert {d.kind for d in found} == {"rounding"}, repr(found)
        assert all(d.certain and "no operation and no index is wrong" in d.explanation for d in found)
    else:
        assert not found, repr(found)


def test_rounding_is_told_with_what_was_found_and_what_f32_can_do():
    """A variance from large squares: the error, what is allowed, and that f32 alone loses as much."""
    (found,) = compared("a variance from squares, a mean of 1000", function=False)
    numbers = re.match(
        r"largest error (\S+), (\S+) is allowed; .* f64 .* right to (\S+), "
        r".* f32 the error is (\S+), no less",
        found.explanation,
    )
    error, allowed, double, single = map(float, numbers.groups())
    worst = abs(float(found.found) - float(found.wanted))
    assert double < allowed < worst <= 1.001 * error
    assert error / 8 <= single


def test_three_right_digits_are_an_agreement_with_a_remark():
    """A difference of roots is off by more than the tolerance, f32 cannot help it, and that is said."""
    found = compared("a difference of roots", function=True)
    assert found == []
    assert found.remarks[0].startswith("Y agrees but for rounding: largest error")
    assert found.remarks[0] in repr(found)


def test_a_tolerance_that_was_asked_for_is_kept():
    """The same difference is one where the caller sets the tolerance."""
    case = CASES["a difference of roots"]
    arguments = case.arguments(np.random.default_rng(3))
    (found,) = ph.compile(case.text)["k"].compare(**arguments, ref=case.right, tolerance=1e-7)
    assert found.kind == "rounding"


def test_a_reference_in_halves_accuses_nobody():
    """Right values that are rounded themselves are compared by their own type."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((32, 64), (64, 32)))
    right = (a.astype(np.float64) @ b).astype(np.float16)
    kernel = ph.compile(PRODUCT.format(of="f32", to="f32"))["k"]
    assert not kernel.compare(a, b, np.zeros((32, 32), np.float32), ref={"C": right})
