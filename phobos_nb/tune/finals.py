"""The second stage of a search: the best against each other in interleaved rounds, on all its devices.

A round times every contender once on one device, in a new order. Times are compared round by round, so
rounds of several devices may stand in one list: what a device does to all of them cancels.
"""

from __future__ import annotations

import queue
import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol

from phobos_nb.tune.outcome import Constants, Failed
from phobos_nb.tune.statistics import compare, is_open, winner_of

POLL_SECONDS = 0.2
"""How often several devices are asked whether to stop."""

BATCHES = 4
"""Rounds are run up to so many times while it is open whether a finalist is as fast as the winner."""


class Peer(Protocol):
    """Something else that computes the same; timed in the same rounds."""

    def time(self) -> float:
        """Milliseconds of one call."""
        ...


class Lane(Protocol):
    """What times configurations on one device."""

    def time(self, constants: Constants, samples: int) -> tuple[float, ...] | Failed:
        """Milliseconds per call of a configuration that was measured."""
        ...


@dataclass(frozen=True)
class Place:
    """A device of the finals: what times configurations there, and the peers there."""

    lane: Lane
    peers: Mapping[str, Peer]


class LaneRounds:
    """The rounds of one device. failed: contenders that left the finals, with their outcome."""

    def __init__(self, place: Place, finalists: Mapping[str, Constants], seed: int) -> None:
        self._place, self._finalists = place, finalists
        self._shuffle = random.Random(seed).shuffle
        self.times: dict[str, list[float]] = {name: [] for name in (*finalists, *place.peers)}
        self.failed: dict[str, Failed] = {}

    def run(self, rounds: int, may_go_on: Callable[[], bool], tell: Callable[[], None]) -> None:
        """So many rounds, or until it may not go on."""
        for _ in range(rounds):
            if not may_go_on():
                return
            self._round()
            tell()

    def _round(self) -> None:
        """Every contender once, in a new order; one that fails leaves the finals."""
        order = list(self.times)
        self._shuffle(order)
        times: dict[str, float] = {}
        for name in order:
            if name in self._place.peers:
                times[name] = self._place.peers[name].time()
                continue
            found = self._place.lane.time(self._finalists[name], 1)
            if isinstance(found, Failed):
                self.failed[name] = found
                del self.times[name]
            else:
                times[name] = found[0]
        for name, value in times.items():
            self.times[name].append(value)


class Finals:
    """The rounds of all devices.

    may_go_on(done): asked before every round, with how many there are. tell(done, total): after every
    round, in the thread that called `run`.
    """

    def __init__(
        self,
        places: Sequence[Place],
        finalists: Mapping[str, Constants],
        rounds: int,
        seed: int,
        may_go_on: Callable[[int], bool],
        tell: Callable[[int, int], None],
    ) -> None:
        self._lanes = [LaneRounds(place, finalists, seed + i) for i, place in enumerate(places)]
        self._finalists, self._rounds = finalists, rounds
        self._may_go_on, self._tell = may_go_on, tell
        self._done = 0

    def run(self, batches: int = BATCHES) -> None:
        """The rounds, and more of them where they leave a verdict open."""
        for batch in range(batches):
            before = self._done
            self._run_batch(self._rounds * (batch + 1))
            if self._done - before < self._rounds or not self._is_open():
                return

    def _run_batch(self, total: int) -> None:
        shares = [len(range(i, self._rounds, len(self._lanes))) for i in range(len(self._lanes))]
        if len(shares) == 1:
            self._lanes[0].run(
                shares[0], lambda: self._may_go_on(self._done), lambda: self._count(total)
            )
            return
        self._run_side_by_side(shares, total)

    def _count(self, total: int) -> None:
        self._done += 1
        self._tell(self._done, total)

    def _run_side_by_side(self, shares: Sequence[int], total: int) -> None:
        """A thread per device; this one counts, tells, and says when to stop."""
        ended: queue.SimpleQueue[None] = queue.SimpleQueue()
        going = True
        with ThreadPoolExecutor(len(shares)) as threads:
            work = [
                threads.submit(lane.run, share, lambda: going, lambda: ended.put(None))
                for lane, share in zip(self._lanes, shares, strict=True)
            ]
            try:
                while not self._are_over(work, ended):
                    while not ended.empty():
                        ended.get()
                        self._count(total)
                    going = going and self._may_go_on(self._done)
            finally:
                going = False
        for one in work:
            one.result()

    def _are_over(self, work: Sequence[Future[None]], ended: queue.SimpleQueue[None]) -> bool:
        _, running = wait(work, timeout=POLL_SECONDS)
        return not running and ended.empty()

    # What came of it --------------------------------------------------------------------------------

    @property
    def failed(self) -> dict[str, Failed]:
        """Finalists that failed on any device."""
        return {name: failed for lane in self._lanes for name, failed in lane.failed.items()}

    @property
    def times(self) -> dict[str, tuple[float, ...]]:
        """The rounds of every contender that never failed; the same position is the same round."""
        names = [n for n in self._lanes[0].times if all(n in lane.times for lane in self._lanes)]
        return {n: tuple(t for lane in self._lanes for t in lane.times[n]) for n in names}

    def _is_open(self) -> bool:
        times = {n: t for n, t in self.times.items() if n in self._finalists and t}
        if len(times) < 2:
            return False
        winner = winner_of(times)
        return any(is_open(compare(times[n], times[winner])) for n in times if n != winner)
