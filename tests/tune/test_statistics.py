"""Medians, intervals and verdicts."""

import math
import random

import pytest

from phobos_nb.tune.statistics import compare, compare_apart, estimate, ties_of, winner_of


def rounds(seed: int, scale: float = 1.0, count: int = 25) -> tuple[list[float], list[float]]:
    """Two contenders under one drifting clock, with heavy-tailed noise of their own."""
    rng = random.Random(seed)
    clock = [1.0 + 0.05 * math.sin(i / 4 + seed) for i in range(count)]

    def noise() -> float:
        return 1.0 + abs(rng.gauss(0, 0.004)) + (0.2 if rng.random() < 0.05 else 0.0)

    return [c * noise() for c in clock], [c * scale * noise() for c in clock]


def test_the_interval_holds_the_median_as_often_as_it_says():
    """Over 2000 samples of 15 from a skewed distribution, 95 % intervals miss the median under 5 %."""
    rng = random.Random(1)
    median = math.log(2)
    found = [estimate([rng.expovariate(1.0) for _ in range(15)]) for _ in range(2000)]
    missed = sum(not e.low <= median <= e.high for e in found)
    assert 0.01 < missed / 2000 <= 0.05


def test_few_samples_have_no_interval():
    """Five samples cannot give a 95 % interval of a median (2 * 2^-5 > 0.05); six can."""
    assert math.isnan(estimate([1.0, 2, 3, 4, 5]).low)
    six = estimate([6.0, 1, 2, 3, 4, 5])
    assert (six.low, six.median, six.high) == (1, 3.5, 6)


def test_the_same_configuration_twice_is_a_tie():
    """In at least 19 of 20 searches two equal contenders are not separated."""
    verdicts = [compare(*rounds(seed)).verdict for seed in range(100)]
    assert verdicts.count("tie") >= 95


def test_a_planted_difference_of_three_percent_is_found():
    """In at least 19 of 20 searches a contender 3 % slower is named slower, against a drift of 10 %."""
    verdicts = [compare(*reversed(rounds(seed, 1.03))).verdict for seed in range(100)]
    assert verdicts.count("slower") >= 95


def test_ties_are_named_and_slower_ones_are_not():
    """Of three contenders the equal one is a tie of the winner, the slow one is not."""
    one, same = rounds(3)
    _, slow = rounds(3, 1.1)
    times = {"one": one, "same": same, "slow": slow}
    winner = winner_of(times)
    assert winner in ("one", "same")
    assert ties_of(winner, times) == ("same" if winner == "one" else "one",)


def test_rounds_must_be_paired():
    """Comparing unequal numbers of rounds is an error, and so is a median of nothing."""
    with pytest.raises(ValueError, match="zip"):
        compare([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="nothing"):
        estimate([])


def test_samples_of_two_runs_are_compared_by_their_medians():
    """The true ratio lies in the interval of 99 % in at least 99 % of cases, over skewed noise."""
    rng = random.Random(2)

    def run(scale: float) -> list[float]:
        return [scale * (1 + rng.expovariate(100.0)) for _ in range(25)]

    found = [compare_apart(run(1.03), run(1.0)) for _ in range(500)]
    assert sum(c.low <= 1.03 <= c.high for c in found) >= 495
    assert sum(c.low > 1.0 for c in found) >= 450


def test_two_runs_may_have_any_number_of_rounds():
    """Too few of either leave the ratio open to that side."""
    assert compare_apart([1.0] * 9, [1.0] * 40).verdict == "tie"
    assert math.isinf(compare_apart([1.0] * 3, [1.0] * 40).high)
