"""The two-stage search: a few launches of each configuration, then the best against each other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from typing import Any

from phobos_nb.tune.compile_job import Compiled
from phobos_nb.tune.finals import BATCHES, Finals, Peer, Place
from phobos_nb.tune.many_devices import ManyDevices
from phobos_nb.tune.outcome import Failed, Measured, Outcome, label
from phobos_nb.tune.runner import Runner
from phobos_nb.tune.stages import overtakers
from phobos_nb.tune.statistics import winner_of
from phobos_nb.tune.strategies import Strategy, Trial

FIRST_STAGE = 0.8
"""The part of a budget in seconds after which no new configuration is begun."""

STOP_SECONDS = 0.2
"""How often a search that waits for compilers looks whether it is to stop."""

WITHIN = 1.15
"""Finalists are at most this much slower than the fastest at first sight."""


@dataclass(frozen=True)
class Plan:
    """How much is measured. seconds, trials: the budget; trials counts configurations, failed ones too.

    finalists: most of them; rounds: interleaved rounds of the finalists; batches: how often so many are
    run while it is open which of them are as fast as the winner. rematch: whether first looks that were
    faster than the winner turns out to be are timed beside it.
    """

    seconds: float | None = None
    trials: int | None = None
    finalists: int = 8
    rounds: int = 25
    seed: int = 0
    batches: int = BATCHES
    rematch: bool = True


@dataclass(frozen=True)
class Event:
    """Something happened: an outcome is there, or a round of finals is over.

    stage: "first" or "finals". done: outcomes, or rounds; total: of how many at most.
    """

    stage: str
    done: int
    total: int
    outcome: Outcome | None = None


Underway = dict[Future[Any], Trial]
"""Compilations, and on several devices measurements, whose outcome is awaited."""

Listener = Callable[[Event], None]


def _nobody(event: Event) -> None:
    """Stands for a listener."""


class Search:
    """One search. `outcomes` is filled as it goes, in order of arrival, and is good at any moment.

    stopped: "" while it runs and when it came to its end; "interrupted"; or "budget". known: outcomes of
    an earlier search. champions: earlier outcomes that take part in the finals in any case.
    """

    def __init__(
        self,
        runner: Runner,
        strategy: Strategy,
        plan: Plan,
        total: int,
        *,
        known: Mapping[str, Outcome] | None = None,
        champions: Mapping[str, Outcome] | None = None,
        listener: Listener | None = None,
        peers: Mapping[str, Peer] | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self._runner, self._strategy, self._plan = runner, strategy, plan
        self._champions = dict(champions or {})
        self._known = {**(known or {}), **self._champions}
        budget = total if plan.trials is None else plan.trials + len(self._known)
        self._total = min(total, budget)
        self._tell_listener = listener or _nobody
        self._peers = dict(peers or {})
        self._stop = stop or threading.Event()
        self._begun = time.perf_counter()
        self._fresh = 0
        self._rounds_run = 0
        self.outcomes: dict[str, Outcome] = {}
        self.peer_rounds: dict[str, tuple[float, ...]] = {}
        self.stopped = ""

    def run(self) -> None:
        """Both stages; an interrupt, a stop or an empty budget ends them early, with what there is."""
        try:
            self._first_stage()
            self._finals()
        except KeyboardInterrupt:
            self.stopped = "interrupted"

    # The first stage --------------------------------------------------------------------------------

    def _first_stage(self) -> None:
        waiting: Underway = {}
        try:
            while True:
                self._fill(waiting)
                if not waiting:
                    return
                done = self._next_done(waiting)
                if not done:
                    return
                for future in [f for f in waiting if f in done]:  # in the order they were begun
                    self._finish(waiting.pop(future), future.result(), waiting)
        finally:
            for future in waiting:
                future.cancel()

    def _next_done(self, waiting: Underway) -> set[Future[Any]]:
        """What has ended, a compilation or a measurement; nothing where the search is to end first."""
        while not self._is_stopped():
            left = self._left(FIRST_STAGE)
            if left is not None and left <= 0:
                self.stopped = "budget"
                break
            done, _ = wait(waiting, timeout=STOP_SECONDS, return_when=FIRST_COMPLETED)
            if done:
                return done
        return set()

    def _is_stopped(self) -> bool:
        if self._stop.is_set():
            self.stopped = "interrupted"
        return self._stop.is_set()

    def _fill(self, waiting: Underway) -> None:
        """Begin trials until enough are under way; what is known already is told at once."""
        while len(waiting) < self._runner.width:
            if self._is_spent() or self._is_stopped():
                return
            trial = self._strategy.ask()
            if trial is None:
                return
            measured = self._enough(trial)
            if measured is not None:
                self._record(measured)
                continue
            again = self.outcomes.get(label(trial.constants))
            if isinstance(again, Measured) and again.label not in self._known:
                self._measure_more(again, trial.samples)
                continue
            self._fresh += 1
            waiting[self._runner.start(trial.constants)] = trial

    def _is_spent(self) -> bool:
        left = self._left(FIRST_STAGE)
        trials = self._plan.trials
        if (left is not None and left <= 0) or (trials is not None and self._fresh >= trials):
            self.stopped = "budget"
            return True
        return False

    def _left(self, part: float) -> float | None:
        if self._plan.seconds is None:
            return None
        return max(0.0, self._plan.seconds * part - (time.perf_counter() - self._begun))

    def _enough(self, trial: Trial) -> Outcome | None:
        """The outcome of an earlier search, which need not be measured again."""
        found = self._known.get(label(trial.constants))
        if isinstance(found, Measured) and len(found.times) < trial.samples:
            return None
        return replace(found, rounds=()) if isinstance(found, Measured) else found

    def _finish(
        self,
        trial: Trial,
        done: Compiled | Outcome,
        waiting: Underway,
    ) -> None:
        if not isinstance(done, Compiled):
            self._record(done)
        elif isinstance(self._runner, ManyDevices):
            waiting[self._runner.begin(done, trial.samples)] = trial
        else:
            self._record(self._runner.measure(done, trial.samples))

    def _measure_more(self, measured: Measured, samples: int) -> None:
        more = self._runner.time(measured.constants, max(1, samples - len(measured.times)))
        self._record(
            more if isinstance(more, Failed) else replace(measured, times=(*measured.times, *more))
        )

    def _record(self, outcome: Outcome) -> None:
        self.outcomes[outcome.label] = outcome
        self._strategy.tell(outcome)
        self._tell_listener(Event("first", len(self.outcomes), self._total, outcome))

    # The finals -------------------------------------------------------------------------------------

    def _finals(self) -> None:
        names = finalists(self.outcomes, self._plan.finalists)
        names += [name for name in self._champions if name not in names]
        self.outcomes = {**self._champions, **self.outcomes}
        ready = [name for name in names if self._ready(name)]
        self._play(ready)
        late = [name for name in self._overtakers() if self._may_go_on(1) and self._ready(name)]
        if late:
            self._play([n for n in ready if isinstance(self.outcomes[n], Measured)] + late)

    def _overtakers(self) -> list[str]:
        """Who looked faster at first than the winner turned out to be; at most as many as finalists."""
        rounds = {n: o.rounds for n, o in self.outcomes.items() if isinstance(o, Measured) and o.rounds}
        if self.stopped or not self._plan.rematch or not rounds:
            return []
        winner = self.outcomes[winner_of(rounds)]
        assert isinstance(winner, Measured)
        return [o.label for o in overtakers(self.outcomes, winner)][: self._plan.finalists]

    def _play(self, names: Sequence[str]) -> None:
        """Interleaved rounds of these; complete, they take the place of earlier ones."""
        contenders = {name: self.outcomes[name].constants for name in names}
        places = [Place(self._runner, self._peers)]
        if isinstance(self._runner, ManyDevices):
            places = self._runner.places()
        finals = Finals(
            places, contenders, self._plan.rounds, self._plan.seed, self._may_go_on, self._tell_round
        )
        before = self._rounds_run
        try:
            finals.run(self._plan.batches)
        finally:
            self._keep(finals, least=self._plan.rounds if before else 0)

    def _may_go_on(self, rounds: int) -> bool:
        """Whether another round fits; a budget allows the first in any case."""
        left = self._left(1.0)
        if left is not None and left <= 0 and rounds:
            self.stopped = "budget"
            return False
        return not self._is_stopped()

    def _tell_round(self, done: int, total: int) -> None:
        """Rounds are counted on through a rematch."""
        self._rounds_run += 1
        self._tell_listener(Event("finals", self._rounds_run, self._rounds_run - done + total))

    def _ready(self, name: str) -> bool:
        """Whether a finalist is loaded; one known from an earlier search is compiled and checked now."""
        outcome = self.outcomes[name]
        if name not in self._known or not isinstance(outcome, Measured):
            return True
        compiled = self._runner.start(outcome.constants).result()
        again = compiled if isinstance(compiled, Failed) else self._runner.measure(compiled, 1)
        if isinstance(again, Failed):
            self.outcomes[name] = again
        return isinstance(again, Measured)

    def _keep(self, finals: Finals, least: int) -> None:
        """What the rounds gave; only the failures where there are fewer than `least`."""
        self.outcomes.update(finals.failed)
        if min((len(times) for times in finals.times.values()), default=0) < least:
            return
        for name, times in finals.times.items():
            outcome = self.outcomes.get(name)
            if isinstance(outcome, Measured):
                self.outcomes[name] = replace(outcome, rounds=times)
            else:
                self.peer_rounds[name] = times


def finalists(outcomes: Mapping[str, Outcome], most: int) -> list[str]:
    """The names that may be fastest, by the first times: the fastest two, and others close to them."""
    measured = sorted((o for o in outcomes.values() if isinstance(o, Measured)), key=_first)
    close = [o.label for o in measured if _first(o) <= WITHIN * _first(measured[0])]
    return (close if len(close) > 1 else [o.label for o in measured[:2]])[:most]


def _first(measured: Measured) -> float:
    """The fastest first time: the first stage runs while compilers keep the machine busy."""
    return min(measured.times)
