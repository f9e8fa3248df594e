"""The two stages, budgets, interrupts, resuming and strategies, on recorded measurements."""

import pytest

from phobos_nb.diagnostics import PhobosError
from phobos_nb.tune.outcome import Failed, Measured, label
from phobos_nb.tune.replay import ReplayRunner, replay, shortfall
from phobos_nb.tune.search import Plan, Search, finalists
from phobos_nb.tune.strategies import Setting, make, names
from tests.tune.recorded import SPACE, record, true_time

BEST = {"M": 128, "N": 256, "K": 8}


def searched(**options):
    """A search over the recorded space, run."""
    strategy = options.pop("strategy", "exhaustive")
    plan = options.pop("plan", Plan())
    setting = Setting(SPACE, 5, plan.trials, plan.seed, options.pop("predict", None))
    search = Search(ReplayRunner(record(), plan.seed), make(strategy, setting), plan, 64, **options)
    search.run()
    return search


def test_every_configuration_has_an_outcome():
    """64 configurations: 60 measured, 4 failed in place, finalists with 25 paired rounds each."""
    search = searched()
    assert set(search.outcomes) == set(SPACE.labels)
    assert sum(isinstance(o, Failed) for o in search.outcomes.values()) == 4
    rounds = {len(o.rounds) for o in search.outcomes.values() if isinstance(o, Measured)}
    assert rounds == {0, 25}
    assert search.stopped == ""


def test_finalists_are_those_close_to_the_fastest():
    """The fastest two at least, others within 15 %, no more than asked for."""
    outcomes = record(noise=0.0).outcomes
    assert finalists(outcomes, 8)[0] == label(BEST)
    assert len(finalists(outcomes, 8)) == 2
    close = {n: Measured(o.constants, (1.0 + i / 1000,)) for i, (n, o) in enumerate(outcomes.items())}
    assert len(finalists(close, 8)) == 8
    assert finalists({}, 8) == []


@pytest.mark.parametrize("strategy", ["exhaustive", "random", "guided", "halving", "optuna"])
def test_every_strategy_finds_the_best_of_the_whole_space(strategy):
    """Without a budget each visits configurations at most once and ends with the winner."""
    if strategy == "optuna":
        pytest.importorskip("optuna")
    tuning = replay(record(), strategy=strategy, plan=Plan(seed=3))
    assert tuning.best == BEST
    assert len(tuning.record.outcomes) <= 64
    assert tuning.recorded == "Example GPU, 2026-11-29 12:00:00 UTC"


def test_the_strategies_there_are():
    """Named by their files; an unknown one is an error that lists them."""
    assert set(names()) == {"exhaustive", "guided", "halving", "optuna", "random"}
    with pytest.raises(PhobosError, match="annealing") as caught:
        make("annealing", Setting(SPACE))
    assert "guided" in caught.value.diagnostics[0].help


def test_repeated_searches_agree():
    """Ten searches with other noise pick winners within 1 % of each other."""
    chosen = [replay(record(), plan=Plan(seed=seed)) for seed in range(10)]
    assert max(shortfall(t, record()) for t in chosen) <= 0.01


def test_a_rough_model_reaches_the_best_with_a_quarter_of_the_trials():
    """A model that is off by up to 40 % in places, corrected by what is measured."""

    def rough(constants):
        return true_time(constants) * (1.4 if constants["K"] == 8 else 1.0)

    tuning = replay(record(), strategy="guided", plan=Plan(trials=16), predict=rough)
    assert len(tuning.record.outcomes) == 16
    assert shortfall(tuning, record()) <= 0.02
    assert tuning.stopped == "budget"


def test_a_budget_of_trials_counts_configurations():
    """Nothing is begun beyond it, and the best so far is there."""
    search = searched(plan=Plan(trials=5))
    assert len(search.outcomes) == 5
    assert search.stopped == "budget"


def test_a_budget_of_seconds_ends_the_search():
    """With no time at all nothing is measured."""
    search = searched(plan=Plan(seconds=0.0))
    assert search.outcomes == {}
    assert search.stopped == "budget"


def interrupt_after(count):
    """A listener that interrupts as a user does."""

    def listen(event):
        if event.stage == "first" and event.done == count:
            raise KeyboardInterrupt

    return listen


def test_an_interrupt_keeps_what_there_is_and_resuming_measures_only_the_rest():
    """After 5 of 64: 5 outcomes; the next search starts none of them again."""
    first = searched(listener=interrupt_after(5))
    assert first.stopped == "interrupted"
    assert len(first.outcomes) == 5

    started = []

    class Counting(ReplayRunner):
        def start(self, constants):
            started.append(label(constants))
            return super().start(constants)

    setting = Setting(SPACE, 5)
    runner = Counting(record())
    second = Search(runner, make("exhaustive", setting), Plan(), 64, known=first.outcomes)
    second.run()
    assert len(second.outcomes) == 64
    before_finals = started[:59]
    assert len(set(before_finals)) == 59
    assert not set(before_finals) & set(first.outcomes)


@pytest.mark.parametrize("strategy", ["exhaustive", "halving"])
def test_a_resumed_search_times_only_what_it_has_loaded(strategy):
    """Configurations known from a record are compiled and checked before they are timed again."""

    class Strict(ReplayRunner):
        def __init__(self):
            super().__init__(record())
            self.loaded = set()

        def measure(self, compiled, samples):
            self.loaded.add(label(compiled.constants))
            return super().measure(compiled, samples)

        def time(self, constants, samples):
            assert label(constants) in self.loaded
            return super().time(constants, samples)

    known = searched().outcomes
    search = Search(Strict(), make(strategy, Setting(SPACE, 5)), Plan(), 64, known=known)
    search.run()
    assert search.stopped == ""


def test_interleaved_rounds_are_shuffled():
    """All finalists in every round, in orders that differ between rounds."""
    asked = []

    class Watching(ReplayRunner):
        def time(self, constants, samples):
            asked.append(label(constants))
            return super().time(constants, samples)

    search = Search(Watching(record()), make("exhaustive", Setting(SPACE)), Plan(rounds=20), 64)
    search.run()
    names = sorted(set(asked))
    rounds = [tuple(asked[i : i + len(names)]) for i in range(0, len(asked), len(names))]
    assert all(sorted(r) == names for r in rounds)
    assert len(set(rounds)) > 1
