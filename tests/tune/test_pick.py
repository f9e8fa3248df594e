"""The set of configurations with the least regret, against all sets."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phobos_nb.tune import pick as picking
from phobos_nb.tune.pick import NOT_AT_ALL, WORTH_ONE_MORE, cost, pick, regrets


def least(times, weights, most):
    """The smallest cost of any set, by trying all."""
    regret, weight = regrets(times), np.array(weights, dtype=float)
    columns = range(regret.shape[1])
    sets = (s for size in range(1, most + 1) for s in itertools.combinations(columns, size))
    return min(cost(regret, weight, s) for s in sets)


tables = st.integers(1, 5).flatmap(
    lambda shapes: st.integers(1, 7).flatmap(
        lambda count: st.lists(
            st.lists(st.sampled_from([1.0, 1.1, 1.5, 2.0, 3.0, None]), min_size=count, max_size=count),
            min_size=shapes,
            max_size=shapes,
        ).filter(lambda rows: all(any(t is not None for t in row) for row in rows))
    )
)


@settings(deadline=None)
@given(tables, st.integers(1, 4))
def test_no_set_of_that_size_is_better(times, most):
    """Dominated configurations left out and fewer taken where that costs nothing, it is still best."""
    weights = [1.0 + i for i in range(len(times))]
    chosen = pick(times, weights, most)
    assert 1 <= len(chosen) <= most
    found = cost(regrets(times), np.array(weights), chosen)
    assert found <= least(times, weights, most) + WORTH_ONE_MORE + 1e-12


@settings(deadline=None)
@given(tables, st.integers(1, 3))
def test_the_heuristic_is_close_to_the_best(times, most):
    """Where not all sets can be tried: greedy and swaps, never worse than one member allowed less."""
    weights = [1.0] * len(times)
    before = picking.EXACT
    picking.EXACT = 0
    try:
        chosen = pick(times, weights, most)
    finally:
        picking.EXACT = before
    found = cost(regrets(times), np.array(weights), chosen)
    if most > 1:
        assert found <= least(times, weights, most - 1) + WORTH_ONE_MORE + 1e-12
    else:
        assert found == pytest.approx(least(times, weights, 1))


def test_one_configuration_that_is_good_everywhere_beats_two_specialists():
    """A set is as small as it may be."""
    assert pick([[1.0, 3.0, 1.0], [3.0, 1.0, 1.0]], [1, 1], 4) == (2,)


def test_weights_decide_which_shape_loses():
    """With room for one, the shape that counts more gets its winner."""
    times = [[1.0, 2.0], [2.0, 1.0]]
    assert pick(times, [10, 1], 1) == (0,)
    assert pick(times, [1, 10], 1) == (1,)
    assert set(pick(times, [1, 1], 2)) == {0, 1}


def test_a_shape_that_a_set_cannot_run_costs_dearly():
    """A configuration without a time somewhere is no bargain."""
    assert regrets([[1.0, None]])[0, 1] == NOT_AT_ALL
    assert pick([[1.0, 1.5], [None, 1.0]], [1, 1], 1) == (1,)
