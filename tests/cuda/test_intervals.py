"""Interval arithmetic against all the integers it stands for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phobos_nb.cuda import intervals
from phobos_nb.cuda.intervals import Interval

BITS = 6
"""A small width, so that every value of every interval can be tried."""

LOWEST, HIGHEST = -(1 << (BITS - 1)), (1 << (BITS - 1)) - 1


def signed(value: int) -> int:
    return (value - LOWEST) % (1 << BITS) + LOWEST


def unsigned(value: int) -> int:
    return value % (1 << BITS)


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shifts(b: int) -> bool:
    return 0 <= b < BITS


def nonzero(b: int) -> bool:
    return b != 0


def anything(b: int) -> bool:
    return True


OPERATIONS = {
    "add": (lambda a, b: a + b, anything),
    "sub": (lambda a, b: a - b, anything),
    "mul": (lambda a, b: a * b, anything),
    "divsi": (truncated, nonzero),
    "remsi": (lambda a, b: a - truncated(a, b) * b, nonzero),
    "floordivsi": (lambda a, b: a // b, nonzero),
    "ceildivsi": (lambda a, b: -(-a // b), nonzero),
    "divui": (lambda a, b: unsigned(a) // unsigned(b), nonzero),
    "ceildivui": (lambda a, b: -(-unsigned(a) // unsigned(b)), nonzero),
    "remui": (lambda a, b: unsigned(a) % unsigned(b), nonzero),
    "minsi": (min, anything),
    "maxsi": (max, anything),
    "minui": (lambda a, b: min(a, b, key=unsigned), anything),
    "maxui": (lambda a, b: max(a, b, key=unsigned), anything),
    "andi": (lambda a, b: a & b, anything),
    "ori": (lambda a, b: a | b, anything),
    "shli": (lambda a, b: a << b, shifts),
    "shrsi": (lambda a, b: a >> b, shifts),
    "shrui": (lambda a, b: unsigned(a) >> b, shifts),
}
"""What each operation computes before it wraps, and for which right operands it means something."""

bounds = st.tuples(st.integers(LOWEST, HIGHEST), st.integers(LOWEST, HIGHEST)).map(sorted)


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=60, deadline=None)
@given(a=bounds, b=bounds)
def test_every_result_is_inside(name, a, b):
    """For all operands in two intervals, the wrapped result lies in the interval that is claimed."""
    compute, allowed = OPERATIONS[name]
    claimed = getattr(intervals, name)(Interval(*a), Interval(*b), BITS)
    assert claimed.within(intervals.full(BITS))
    for x in range(a[0], a[1] + 1):
        for y in range(b[0], b[1] + 1):
            if allowed(y):
                assert claimed.lo <= signed(compute(x, y)) <= claimed.hi, (x, y)


@given(a=bounds, b=bounds)
def test_xor_is_inside_what_or_claims(a, b):
    """One row serves both."""
    claimed = intervals.ori(Interval(*a), Interval(*b), BITS)
    assert all(
        claimed.lo <= x ^ y <= claimed.hi for x in range(a[0], a[1] + 1) for y in range(b[0], b[1] + 1)
    )


def test_exact_results_stay_exact():
    """Small operands are not widened: 127 * 8 + 7 is known to the unit."""
    product = intervals.mul(Interval(0, 127), Interval(8, 8), 32)
    assert intervals.add(product, Interval(0, 7), 32) == Interval(0, 1023)
