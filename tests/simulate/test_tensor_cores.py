"""Sums of the tensor cores: what their alignment keeps and drops, by generation."""

import ml_dtypes
import numpy as np
import pytest

from phobos_nb.simulate.tensor_cores import multiply_accumulate, toward_zero

F16, F32 = np.dtype(np.float16), np.dtype(np.float32)


def dot(target, a, b, c, operand=F16, result=F32):
    """One inner product of 16 elements, the rest zeros."""
    left, right = np.zeros((1, 1, 16)), np.zeros((1, 16, 1))
    left[0, 0, : len(a)], right[0, : len(b), 0] = a, b
    start = np.full((1, 1, 1), c, result)
    return multiply_accumulate(target, left, right, start, operand, result)[0, 0, 0]


@pytest.mark.parametrize(
    ("target", "wanted"), [("sm_75", 2**25), ("sm_80", 2**25), ("sm_90a", 2**25 + 16)]
)
def test_small_addends_below_a_large_accumulator(target, wanted):
    """16 ones under 2**25: 24 fraction bits drop each of them, 25 keep them all."""
    assert dot(target, [1] * 16, [1] * 16, 2.0**25) == wanted


def test_the_sum_is_rounded_toward_zero():
    """2**24 + 1 and -(2**24 + 1) need 25 bits: the magnitude is cut off, not rounded."""
    for target in ("sm_80", "sm_90a"):
        assert dot(target, [1], [1], 2.0**24) == 2.0**24
        assert dot(target, [3], [1], 2.0**24) == 2.0**24 + 2
        assert dot(target, [-3], [1], -(2.0**24)) == -(2.0**24) - 2


def test_blocks_round_in_between():
    """Two addends of half a unit, 8 apart: Ampere drops each in its block, Hopper adds them first."""
    a = [2.0**-12] + [0] * 7 + [2.0**-12] + [0] * 7
    assert dot("sm_80", a, [2.0**-12] * 16, 1.0) == 1.0
    assert dot("sm_90a", a, [2.0**-12] * 16, 1.0) == 1.0 + 2.0**-23


def test_an_f16_accumulator_rounds_to_nearest():
    """2048 + 1 is a tie and stays; 2048 + 3 rounds up to 2052."""
    assert dot("sm_80", [1], [1], 2048, result=F16) == 2048
    assert dot("sm_80", [3], [1], 2048, result=F16) == 2052


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_89", "sm_90a", "sm_120"])
@pytest.mark.parametrize("operand", [F16, np.dtype(ml_dtypes.bfloat16)])
def test_close_to_the_exact_sum(target, operand):
    """The error is below k units in the last place of the largest term."""
    rng = np.random.default_rng(7)
    a = rng.standard_normal((4, 16, 16)).astype(operand).astype(np.float64)
    b = rng.standard_normal((4, 16, 8)).astype(operand).astype(np.float64)
    c = rng.standard_normal((4, 16, 8)).astype(np.float32)
    got = multiply_accumulate(target, a, b, c, operand, F32)
    exact = a @ b + c
    terms = np.abs(a[:, :, None] * np.swapaxes(b, 1, 2)[:, None]).max(3)
    assert got.dtype == F32
    assert (np.abs(got - exact) <= 18 * 2.0**-23 * np.maximum(terms, np.abs(c))).all()
    assert (got != exact.astype(np.float32)).any()


def test_exact_sums_are_exact():
    """Small integers give the exact product in every generation."""
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-8, 9, s).astype(np.float64) for s in ((2, 16, 16), (2, 16, 8)))
    c = rng.integers(-99, 99, (2, 16, 8)).astype(np.float32)
    for target in ("sm_75", "sm_80", "sm_90a", "sm_100"):
        assert (multiply_accumulate(target, a, b, c, F16, F32) == a @ b + c).all()


def test_special_values():
    """Infinities and NaN go through; opposite infinities give NaN."""
    assert dot("sm_90a", [np.inf], [1], 0) == np.inf
    assert np.isnan(dot("sm_90a", [np.inf, -np.inf], [1, 1], 0))
    assert np.isnan(dot("sm_90a", [np.nan], [1], 0))
    assert np.isnan(dot("sm_90a", [np.inf], [0], 0))


def test_integers_wrap_and_f64_fuses():
    """I8 products add up in 32 bits; f64 products are not rounded before the sum."""
    i8, i32, f64 = np.dtype(np.int8), np.dtype(np.int32), np.dtype(np.float64)
    assert dot("sm_80", [127] * 16, [127] * 16, 2**31 - 1, i8, i32) == 127 * 127 * 16 - 2**31 - 1
    x = 1.0 + 2.0**-30
    assert dot("sm_80", [x], [x], -1.0 - 2.0**-29, f64, f64) == 2.0**-60


def test_rounding_toward_zero():
    """Between two f32 the one nearer to zero is taken, at every magnitude."""
    values = np.array([1 + 2.0**-24, -1 - 2.0**-24, 1 + 2.0**-23, 2.0**128, 0, 2.0**-150])
    values[4] = np.nextafter(2.0**128, 0)
    wanted = np.array([1, -1, 1 + 2.0**-23, np.inf, np.finfo(np.float32).max, 0])
    assert toward_zero(values).tolist() == wanted.astype(np.float32).tolist()
