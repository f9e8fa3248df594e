"""Recorded searches run again without a GPU: the same code, with recorded times in place of launches."""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

from phobos_nb.tune import strategies
from phobos_nb.tune.compile_job import Compiled
from phobos_nb.tune.outcome import Constants, Failed, Kind, Measured, Outcome, label
from phobos_nb.tune.records import Record, conclude, read
from phobos_nb.tune.result import Tuning
from phobos_nb.tune.search import Listener, Plan, Search
from phobos_nb.tune.space import Space
from phobos_nb.tune.strategies import Predict


class ReplayRunner:
    """Answers from a record. Times are drawn from the recorded samples of that configuration.

    Where the record has rounds, position r of all finalists was one round, so round r here too gives
    each its time of one recorded round, and what the contenders shared stays shared.
    """

    width = 4

    def __init__(self, record: Record, seed: int = 0) -> None:
        self._outcomes = record.outcomes
        self._random = random.Random(seed)
        rounds = max((len(o.rounds) for o in self._measured()), default=0)
        self._order = self._random.sample(range(rounds), rounds)
        self._asked: dict[str, int] = {}

    def start(self, constants: Constants) -> Future[Compiled | Failed]:
        """A future that is done."""
        found = self._outcomes.get(label(constants))
        future: Future[Compiled | Failed] = Future()
        if found is None:
            future.set_result(Failed(constants, Kind.LAUNCH, "not in the record"))
        elif isinstance(found, Failed):
            future.set_result(found)
        else:
            future.set_result(Compiled(constants, facts=found.facts, seconds=found.compile_seconds))
        return future

    def measure(self, compiled: Compiled, samples: int) -> Measured | Failed:
        """The recorded error with as many recorded first times."""
        found = self._known(compiled.constants)
        times = tuple(self._random.choice(found.times) for _ in range(samples))
        return Measured(found.constants, times, (), found.error, found.facts, found.compile_seconds)

    def time(self, constants: Constants, samples: int) -> tuple[float, ...] | Failed:
        """Recorded rounds in an order that all configurations share, else recorded first times."""
        found = self._known(constants)
        if len(found.rounds) < len(self._order) or not self._order:
            return tuple(self._random.choice(found.times) for _ in range(samples))
        begun = self._asked.get(found.label, 0)
        self._asked[found.label] = begun + samples
        places = (self._order[i % len(self._order)] for i in range(begun, begun + samples))
        return tuple(found.rounds[place] for place in places)

    def close(self) -> None:
        """There is nothing to free."""

    def _known(self, constants: Constants) -> Measured:
        found = self._outcomes[label(constants)]
        if isinstance(found, Failed):
            raise KeyError(found.label)
        return found

    def _measured(self) -> list[Measured]:
        return [o for o in self._outcomes.values() if isinstance(o, Measured)]


def replay(
    record: Record,
    *,
    strategy: str = "exhaustive",
    plan: Plan | None = None,
    samples: int = 5,
    listener: Listener | None = None,
    predict: Predict | None = None,
    stop: threading.Event | None = None,
    known: Mapping[str, Outcome] | None = None,
) -> Tuning:
    """Search a record's space again; the result says that it is recorded, on which card and when.

    known: outcomes of an earlier replay that was stopped; only the rest is asked for.
    """
    plan = replace(plan or Plan(), batches=1, rematch=False)  # a record has the rounds it has
    space = Space(record.space)
    setting = strategies.Setting(space, samples, plan.trials, plan.seed, predict)
    runner = ReplayRunner(record, plan.seed)
    search = Search(
        runner, strategies.make(strategy, setting), plan, len(space), known=known, listener=listener,
        stop=stop,
    )  # fmt: skip
    search.run()
    found = conclude(record, search.outcomes, search.stopped)
    return Tuning(found, fresh=0, recorded=provenance(record))


def provenance(record: Record) -> str:
    """Where and when a record was measured."""
    return f"{record.identity.device}, {record.date}"


def open_record(path: str | Path) -> Tuning:
    """A record file as a result, marked as recorded; `RecordError` where it is none."""
    record = read(Path(path))
    return Tuning(record, recorded=provenance(record))


def shortfall(tuning: Tuning, record: Record) -> float:
    """How much slower the found winner is than the record's best: 0.02 for 2 %; inf without one."""

    def typical(outcome: Outcome | None) -> float:
        return outcome.median if isinstance(outcome, Measured) else math.inf

    best = min((typical(o) for o in record.outcomes.values()), default=math.inf)
    chosen = record.outcomes.get(label(tuning.best)) if tuning.best else None
    return typical(chosen) / best - 1.0
