"""Interleaved rounds: what they tell apart, when more are run, and on several devices."""

import statistics
import threading

import pytest

from phobos_nb.tune.finals import BATCHES, Finals, Place
from phobos_nb.tune.statistics import compare, ties_of, winner_of
from tests.tune.simulated import Device, Peer

A, TWIN, SLOW = ({"TILE": n} for n in (1, 2, 3))
NAMES = {"TILE=1": A, "TILE=2": TWIN, "TILE=3": SLOW}
TRUE = {"TILE=1": 1.0, "TILE=2": 1.0, "TILE=3": 1.03}


def run(devices, *, names=NAMES, rounds=25, seed=0, peers=None, go=lambda done: True, tell=None):
    """Finals over simulated devices, to their end."""
    places = [Place(d, (peers or {}) if i == 0 else {}) for i, d in enumerate(devices)]
    finals = Finals(places, names, rounds, seed, go, tell or (lambda done, total: None))
    finals.run()
    return finals


def is_right(times):
    """The winner is one of the twins, its twin is a tie, the slow one is not."""
    winner = winner_of(times)
    return winner != "TILE=3" and set(ties_of(winner, times)) == {"TILE=1", "TILE=2"} - {winner}


@pytest.mark.parametrize("noise", [0.001, 0.004, 0.015])
def test_twins_tie_and_three_percent_is_found(noise):
    """In at least 19 of 20 finals (here of 60), for steady GPUs and for shaky ones."""
    found = [is_right(run([Device(TRUE, s, noise=noise)], seed=s).times) for s in range(60)]
    assert sum(found) >= 57


def test_two_devices_that_differ_tell_the_same_apart():
    """One is 2 % slower than the other; rounds are paired on each, so it cancels."""
    devices = [[Device(TRUE, 2 * s), Device(TRUE, 2 * s + 1, level=1.02)] for s in range(60)]
    assert sum(is_right(run(both, seed=s).times) for s, both in enumerate(devices)) >= 57


def test_repeated_finals_pick_winners_within_one_percent():
    """Eight finalists half a percent apart: of 40 finals, no winner is over 1 % slower than the best."""
    true = {f"TILE={i}": 1 + 0.005 * i for i in range(8)}
    names = {f"TILE={i}": {"TILE": i} for i in range(8)}
    winners = [winner_of(run([Device(true, s)], names=names, seed=s).times) for s in range(40)]
    assert max(true[w] for w in winners) <= 1.01


def test_rounds_are_added_only_while_a_verdict_is_open():
    """Steady times need 25 rounds; where noise hides 3 %, up to four times as many are run."""
    steady = run([Device(TRUE, 1, noise=0.0005)])
    assert len(steady.times["TILE=1"]) == 25
    shaky = [len(run([Device(TRUE, s, noise=0.03)], seed=s).times["TILE=1"]) for s in range(8)]
    assert max(shaky) == 25 * BATCHES
    assert all(n % 25 == 0 for n in shaky)


def test_more_rounds_are_what_finds_it():
    """At noise of 6 %, 25 rounds miss a difference of 3 % more often than the rounds that are added."""

    def found(times):
        return compare(times["TILE=3"], times["TILE=1"]).verdict == "slower"

    names = {n: NAMES[n] for n in ("TILE=1", "TILE=3")}
    all_times = [run([Device(TRUE, s, noise=0.06)], names=names, seed=s).times for s in range(40)]
    first = sum(found({n: t[:25] for n, t in times.items()}) for times in all_times)
    assert sum(map(found, all_times)) > first


def test_peers_are_in_every_round():
    """Their times stand beside the finalists'."""
    device = Device({**TRUE, "peer": 2.0}, 1)
    times = run([device], peers={"cublas": Peer(device, "peer")}).times
    assert len(times["cublas"]) == len(times["TILE=1"])
    assert compare(times["cublas"], times["TILE=1"]).ratio == pytest.approx(2.0, rel=0.02)


def test_one_finalist_alone_needs_no_more_rounds():
    """There is nothing to tell it from."""
    finals = run([Device(TRUE, 1, noise=0.05)], names={"TILE=1": A})
    assert len(finals.times["TILE=1"]) == 25


def test_rounds_are_split_among_devices():
    """13 and 12 of 25, each device's own calls only; every round is told, in the caller's thread."""
    devices = [Device(TRUE, s, noise=0.0005) for s in range(2)]
    told = []
    finals = run(devices, tell=lambda *count: told.append((*count, threading.get_ident())))
    assert [d.calls for d in devices] == [13 * 3, 12 * 3]
    assert len(finals.times["TILE=2"]) == 25
    assert [t[0] for t in told] == list(range(1, 26))
    assert {t[2] for t in told} == {threading.get_ident()}


def test_what_fails_on_one_device_leaves_the_finals():
    """Its outcome is kept; the others go on, paired."""
    devices = [Device(TRUE, 1), Device(TRUE, 2)]
    devices[1].fails.add("TILE=2")
    finals = run(devices)
    assert set(finals.times) == {"TILE=1", "TILE=3"}
    assert finals.failed["TILE=2"].reason == "planted"
    assert len({len(t) for t in finals.times.values()}) == 1


@pytest.mark.parametrize("count", [1, 2])
def test_finals_end_when_they_may_not_go_on(count):
    """After about seven rounds, complete ones only, on one device and on two."""
    devices = [Slow(TRUE, s) for s in range(count)]
    finals = run(devices, rounds=200, go=lambda done: done < 7)
    lengths = {len(t) for t in finals.times.values()}
    assert len(lengths) == 1
    assert 7 <= lengths.pop() < 200


class Slow(Device):
    """A device whose calls take a while."""

    def time(self, constants, samples):
        threading.Event().wait(0.005)
        return super().time(constants, samples)


def test_an_error_in_a_device_is_raised():
    """Nothing is swallowed in its thread."""

    class Broken(Device):
        def time(self, constants, samples):
            raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        run([Device(TRUE, 1), Broken(TRUE, 2)])


def test_the_simulated_clock_drifts():
    """What these tests rest on: over 300 calls the device's own level moves by over 1 %."""
    device = Device(TRUE, 5, noise=0.0)
    medians = [statistics.median(device.time(A, 10)) for _ in range(30)]
    assert max(medians) / min(medians) > 1.01
