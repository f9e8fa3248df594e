"""First looks beside the finals: who looked faster joins the rounds, and what is left is said."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import replace

import pytest

from phobos_nb.tune.compile_job import Compiled
from phobos_nb.tune.outcome import FINALS, FIRST_LOOK, Measured, label
from phobos_nb.tune.records import conclude
from phobos_nb.tune.replay import open_record, replay
from phobos_nb.tune.result import Tuning
from phobos_nb.tune.search import Plan, Search
from phobos_nb.tune.space import Space
from phobos_nb.tune.stages import looked, overtakers, remark, shift_of
from phobos_nb.tune.strategies import Setting, make
from tests.tune.recorded import record
from tests.tune.simulated import Device

COUNT = 24
SPACE = Space({"TILE": tuple(range(COUNT))})
NAMES = {f"TILE={i}": {"TILE": i} for i in range(COUNT)}


class LoadedMachine:
    """A runner beside other load: everything takes `load` times as long from the first round on.

    true: milliseconds by label without load. seen: what was timed in rounds, in order.
    """

    width = 1

    def __init__(self, true, load, seed=0):
        self.load, self.seen, self.true = load, [], true
        self._quiet = Device(true, seed)
        self._loaded = Device({n: t * load for n, t in true.items()}, seed)
        self.stop = threading.Event()
        self.stop_after = -1

    def start(self, constants):
        future = Future()
        future.set_result(Compiled(constants))
        return future

    def measure(self, compiled, samples):
        return Measured(compiled.constants, self._quiet.time(compiled.constants, samples))

    def time(self, constants, samples):
        self.seen.append(label(constants))
        if len(self.seen) == self.stop_after:
            self.stop.set()
        return self._loaded.time(constants, samples)

    def close(self):
        """There is nothing to free."""


def searched(runner, **plan):
    """The outcomes of a search on it."""
    plan = Plan(**plan)
    strategy = make("exhaustive", Setting(SPACE, 5, None, plan.seed))
    search = Search(runner, strategy, plan, COUNT, stop=runner.stop)
    search.run()
    return search


def concluded(search):
    """As a result."""
    return Tuning(conclude(replace(record(), space=SPACE.values), search.outcomes, search.stopped))


TRUE = {name: 1.0 + 0.04 * i for i, name in enumerate(NAMES)}
"""Four are within 15 % of the fastest, so that they alone are finalists."""


def test_a_quiet_machine_has_no_rematch():
    """Nobody looked faster than the winner is: finalists alone are in rounds, each in 25."""
    search = searched(LoadedMachine(TRUE, 1.0))
    rounds = {n: len(o.rounds) for n, o in search.outcomes.items() if o.rounds}
    assert set(rounds) == {f"TILE={i}" for i in range(4)}
    assert set(rounds.values()) <= {25, 50, 75, 100}
    assert remark(search.outcomes, {"TILE": 0}) == ""


def test_who_looked_faster_than_the_winner_is_timed_beside_it():
    """Load slows all times down before the finals: those that then look faster join, at most eight."""
    runner = LoadedMachine(TRUE, 1.27)
    search = searched(runner)
    timed = {n for n, o in search.outcomes.items() if o.rounds}
    assert timed == {f"TILE={i}" for i in range(7)}  # 4 finalists, and 1.16, 1.20, 1.24 of 1.27
    winner = search.outcomes["TILE=0"]
    assert overtakers(search.outcomes, winner) == []
    assert len({len(search.outcomes[n].rounds) for n in timed}) == 1
    assert conclude(record(), search.outcomes, "").best == {"TILE": 0}
    assert shift_of(search.outcomes.values()) == pytest.approx(1.27, rel=0.03)


def test_a_fast_one_that_a_first_look_hid_wins_by_the_rematch():
    """A first look 20 % too slow kept the fastest out of the finals; it joins, and wins."""
    runner = LoadedMachine(TRUE, 1.4)
    runner._quiet._true = {**TRUE, "TILE=0": 1.2}
    search = searched(runner)
    assert conclude(record(), search.outcomes, "").best == {"TILE": 0}


def test_what_still_looks_faster_is_said_everywhere():
    """More than eight look faster: the result, the frame and the view say what their times are of."""
    search = searched(LoadedMachine(TRUE, 2.1))
    found = concluded(search)
    assert found.best == {"TILE": 0}
    left = overtakers(search.outcomes, found.winner)
    assert len(left) == COUNT - 4 - 8
    sentence = remark(search.outcomes, found.best)
    assert sentence.startswith(f"{len(left)} first looks took less time than the winner in its rounds")
    assert f"{shift_of(search.outcomes.values()):.2f} times as long" in sentence
    assert sentence in repr(found)
    frame = found.frame
    assert set(frame["timed_in"]) == {FINALS, FIRST_LOOK}
    assert (frame["timed_in"] == FINALS).sum() == 12
    assert looked(search.outcomes.values()).startswith("a first look only; finals took 2.")


def test_a_rematch_that_was_stopped_leaves_the_rounds_before():
    """Stopped in its third round: the four finalists keep complete rounds, the late ones have none."""
    runner = LoadedMachine(TRUE, 1.27)
    whole = LoadedMachine(TRUE, 1.27)
    searched(whole)
    late = next(i for i, name in enumerate(whole.seen) if name not in {f"TILE={n}" for n in range(4)})
    runner.stop_after = late + 3 * 7
    search = searched(runner)
    assert search.stopped == "interrupted"
    assert {n for n, o in search.outcomes.items() if o.rounds} == {f"TILE={i}" for i in range(4)}
    assert {len(o.rounds) % 25 for o in search.outcomes.values()} == {0}


def test_rounds_are_counted_through_a_rematch():
    """Progress never goes back: the rounds of the rematch follow those before it."""
    events = []
    runner = LoadedMachine(TRUE, 1.27)
    strategy = make("exhaustive", Setting(SPACE, 5, None, 0))
    Search(runner, strategy, Plan(), COUNT, listener=events.append).run()
    done = [e.done for e in events if e.stage == "finals"]
    assert done == list(range(1, len(done) + 1))
    assert len(done) >= 50
    assert all(e.total >= e.done for e in events)


def test_a_replay_asks_for_no_rounds_that_a_record_lacks():
    """First looks faster than the winner stay what they are in a replay, and the result says so."""
    kept = open_record("results/tune_seed.json").record
    halved = {
        n: replace(o, times=tuple(t / 2 for t in o.times)) if isinstance(o, Measured) else o
        for n, o in kept.outcomes.items()
    }
    found = replay(replace(kept, outcomes=halved))
    assert found.best == kept.best
    assert {o.label for o in found.measured if o.rounds} == {
        n for n, o in kept.outcomes.items() if isinstance(o, Measured) and o.rounds
    }
    assert "first looks took less time than the winner" in repr(found)


def test_the_shipped_searches_have_no_such_contradiction():
    """On a GPU whose times do not depend on the host, first looks and finals agree within 1 %."""
    found = open_record("results/tune_seed.json")
    assert remark(found.record.outcomes, found.best) == ""
    assert shift_of(found.record.outcomes.values()) == pytest.approx(1.0, abs=0.01)
