"""`compare` where the values can tell nothing: NaN, and right values that are all one number."""

from __future__ import annotations

import numpy as np
import pytest

import phobos_nb as ph

TEXT = """
kernel scale(X: tensor<f32>[N], Z: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 256
  Y[i :+ 256] = 2.0 * X[i :+ 256] %s
}
"""
NONE = np.full(100, np.nan, np.float32)
SOME = np.random.default_rng(2).standard_normal(100).astype(np.float32)
ZERO = np.zeros(100, np.float32)


def only(x, z, ref, more=""):
    """The one difference of a call."""
    (found,) = ph.compile(TEXT % more, chip="sm_80").scale.compare(x, z, ZERO, ref={"Y": ref})
    return found


@pytest.mark.parametrize("right", [SOME, ZERO, ZERO + 3, ZERO + np.inf])
def test_of_inputs_that_are_all_nan_nothing_is_certain(right):
    """A change with which nothing is computed gives the zeros that were there: it is not told."""
    found = only(NONE, SOME, right)
    assert (found.kind, found.certain, found.change) == ("wrong operation", False, None)
    assert found.candidates == ()
    assert found.explanation.startswith(
        "X is all NaN, and so is what is computed from it; nothing tells"
    )


def test_right_values_that_are_all_nan_tell_nothing():
    """Whatever reads an operand that is all NaN gives them."""
    found = only(SOME, NONE, NONE)
    assert (found.certain, found.change) == (False, None)
    assert found.explanation.startswith("all right values are NaN")


def test_a_function_that_gives_nan_tells_of_no_operand_that_it_is_not_read():
    """NaN changes with nothing: that is not to say that nothing is computed from X."""
    kernel = ph.compile(TEXT % "+ Z[i :+ 256]", chip="sm_80").scale
    z = np.where(np.arange(100) < 50, np.nan, SOME).astype(np.float32)
    (found,) = kernel.compare(SOME, z, ZERO, ref=lambda g: {"Y": g["X"] * 7 * g["Z"] / g["Z"][0]})
    assert not found.certain
    assert "which the right value is not" not in found.explanation


def test_infinity_is_not_nan_but_for_rounding():
    """Where the right value is infinite and the found one is NaN, that is no rounding."""
    x = np.where(np.arange(100) == 7, np.nan, SOME).astype(np.float32)
    right = np.where(np.arange(100) == 7, np.inf, 2 * SOME).astype(np.float32)
    found = only(x, SOME, right)
    assert (found.index, found.wrong) == ((7,), 1)
    assert found.kind != "rounding"


def test_a_change_for_right_values_that_are_one_number_is_not_certain():
    """Zeros are what many a change gives; numbers that differ tell it from them."""
    found = only(SOME, SOME, ZERO)
    assert not found.certain
    assert "all right values are 0, which other changes may give too" in found.explanation
    found = only(SOME, SOME, np.float32(2.0) * SOME, "+ 1.0")
    assert (found.certain, found.change.line) == (True, 4)


def test_some_nan_hides_nothing():
    """Where others are finite the cause is told as ever."""
    x = np.where(np.arange(100) % 9 == 0, np.nan, SOME).astype(np.float32)
    found = only(x, SOME, np.float32(2.0) * x, "* 3.0")
    assert (found.certain, found.change.line) == (True, 4)
