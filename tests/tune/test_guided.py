"""The guided order by itself: waves, regions that are left, wrong models, big spaces."""

import math
import time

import pytest

from phobos_nb.tune.outcome import Failed, Kind, Measured, label
from phobos_nb.tune.space import Space
from phobos_nb.tune.strategies import Setting
from phobos_nb.tune.strategies.guided import MOST_SEEN, make

SPACE = Space({"M": (32, 64, 128, 256), "N": (32, 64, 128, 256), "K": (4, 8, 16, 32)})


def true_time(constants):
    """A valley along M * N = 8192, best at K = 8."""
    off = math.log2(constants["M"] * constants["N"] / 8192)
    return math.exp(0.3 * abs(off) + 0.2 * abs(math.log2(constants["K"] / 8)))


def told(strategy, true, trials):
    """The times of what it asks for, one after another."""
    found = []
    while len(found) < trials and (trial := strategy.ask()) is not None:
        found.append(true(trial.constants))
        strategy.tell(Measured(trial.constants, (found[-1],)))
    return found


def test_the_first_trial_is_the_models_best():
    """Before anything was measured there is only the model."""
    strategy = make(Setting(SPACE, predict=true_time))
    assert true_time(strategy.ask().constants) == 1.0


@pytest.mark.parametrize(
    "predict",
    [lambda c: 1.0, lambda c: c["M"] * c["N"], lambda c: 1 / true_time(c)],
    ids=["no model", "small tiles", "upside down"],
)
def test_a_wrong_model_is_overcome_in_a_quarter_of_the_trials(predict):
    """Sixteen of 64, by a model that says nothing, points elsewhere or ranks backwards: within 10 %."""
    found = told(make(Setting(SPACE, trials=16, predict=predict)), true_time, 16)
    assert len(found) == 16
    assert min(found) <= 1.1


def test_a_region_that_is_slower_than_predicted_is_left():
    """Where K = 4 all takes six times what the model says: after three trials there, none follows."""

    def true(constants):
        return true_time(constants) * (3 if constants["K"] == 4 else 1)

    strategy = make(Setting(SPACE, predict=lambda c: true_time(c) * (0.5 if c["K"] == 4 else 1)))
    asked = []
    for _ in range(10):
        trial = strategy.ask()
        asked.append(trial.constants["K"])
        strategy.tell(Measured(trial.constants, (true(trial.constants),)))
    assert asked[0] == 4
    assert asked.count(4) <= 3


def test_a_budget_is_spent_in_waves():
    """Of 16 trials four are under way at once; the next waits for one of them, a failure too."""
    strategy = make(Setting(SPACE, trials=16, predict=true_time))
    first = [strategy.ask() for _ in range(4)]
    assert all(first)
    assert strategy.ask() is None
    strategy.tell(Failed(first[0].constants, Kind.COMPILE, "planted"))
    assert strategy.ask() is not None
    assert strategy.ask() is None


def test_without_a_budget_compilers_are_never_kept_waiting():
    """All of the space may be under way at once, each configuration once."""
    strategy = make(Setting(SPACE, predict=true_time))
    asked = [strategy.ask() for _ in range(64)]
    assert len({label(trial.constants) for trial in asked}) == 64
    assert strategy.ask() is None


def test_what_the_model_rules_out_comes_last():
    """To be named as failures, after everything that can run."""
    strategy = make(Setting(SPACE, predict=lambda c: math.inf if c["M"] == 256 else true_time(c)))
    asked = [strategy.ask().constants["M"] for _ in range(64)]
    assert set(asked[48:]) == {256}
    assert 256 not in asked[:48]


def test_a_thousand_configurations_cost_little():
    """With more measurements than are used, an answer takes less than 0.2 s of CPU at best of five."""
    space = Space({"M": tuple(range(1, 33)), "N": tuple(range(1, 33))})
    strategy = make(Setting(space, predict=lambda c: 1.0))
    for constants in list(space)[: MOST_SEEN + 50]:
        strategy.tell(Measured(constants, (1.0 + abs(constants["M"] - 20) + abs(constants["N"] - 7),)))

    def seconds():
        begun = time.thread_time()
        assert strategy.ask() is not None
        return time.thread_time() - begun

    assert min(seconds() for _ in range(5)) < 0.2
