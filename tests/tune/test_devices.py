"""One search on several devices."""

import logging
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.diagnostics import PhobosError
from phobos_nb.tune import devices
from phobos_nb.tune.bench import Verdict
from phobos_nb.tune.compile_job import Compiled
from phobos_nb.tune.devices import Device, choose_here, distinct, of_one_model
from phobos_nb.tune.many_devices import ManyDevices
from phobos_nb.tune.outcome import Failed, Kind, Measured
from phobos_nb.tune.runner import LiveRunner
from phobos_nb.tune.search import Plan, Search
from phobos_nb.tune.space import Space
from phobos_nb.tune.strategies import Setting, make
from phobos_nb.tune.worker import Worker

ONE = Device(0, "GPU-1", "NVIDIA H200")
SAME = Device(3, "GPU-1", "NVIDIA H200")
TWO = Device(1, "GPU-2", "NVIDIA H200")
OTHER = Device(2, "GPU-3", "NVIDIA A100")
SAXPY = "kernel saxpy(X: tensor<f32>[N], Y: tensor<f32>[N]) { Y[0 :+ 256] = X[0 :+ 256] }"


class Waiting:
    """A simulated device whose every call takes 20 ms. fails: the tile whose answer is wrong here."""

    def __init__(self, level: float, fails: int = -1) -> None:
        self._level, self._fails = level, fails

    def check(self, name: str, compiled: Compiled) -> Verdict:
        time.sleep(0.02)
        return Verdict(0.0, "planted" if compiled.constants["TILE"] == self._fails else "")

    def time(self, name: str, samples: int) -> tuple[float, ...]:
        time.sleep(0.02 * samples)
        tile = int(name.partition("=")[2])
        return (self._level * (1 + 0.03 * tile),) * samples

    def drop(self, name: str) -> None:
        """Nothing is kept."""


def job(constants):
    return Compiled, constants


def search_on(workers, stop=None, listener=None, tiles=24):
    """A search over TILE = 0.. on simulated devices, and how long it took once they were up."""
    space = Space({"TILE": tuple(range(tiles))})
    with ThreadPoolExecutor(2) as threads:
        compiled = {}
        runners = [LiveRunner(threads, 4, job, w, 10.0, compiled) for w in workers]
        runner = ManyDevices(runners, lambda number: {}) if len(workers) > 1 else runners[0]
        for worker in workers:
            worker.call("drop", "")
        begun = time.perf_counter()
        strategy = make("exhaustive", Setting(space, samples=3))
        search = Search(
            runner, strategy, Plan(rounds=10, finalists=3), len(space), stop=stop, listener=listener
        )
        search.run()
        seconds = time.perf_counter() - begun
        runner.close()
    return search, seconds


@pytest.mark.slow
def test_two_simulated_devices_take_at_most_0_6_of_the_time():
    """Every configuration measured once, the finals split; the same winner."""
    one, alone = search_on([Worker(Waiting, 1.0)])
    both, together = search_on([Worker(Waiting, 1.0), Worker(Waiting, 1.02)])
    assert together <= 0.6 * alone
    assert set(one.outcomes) == set(both.outcomes)
    rounds = both.outcomes["TILE=0"].rounds
    assert len(rounds) == 10
    assert sorted(set(rounds)) == [1.0, 1.02]
    assert one.outcomes["TILE=0"].rounds == (1.0,) * 10


def test_a_wrong_answer_on_one_device_cannot_win():
    """The finals check a configuration on each device before they time it there."""
    search, _ = search_on([Worker(Waiting, 1.0), Worker(Waiting, 1.0, 0)], tiles=6)
    failed = search.outcomes["TILE=0"]
    assert isinstance(failed, Failed)
    assert failed.kind is Kind.WRONG


def test_a_stop_keeps_what_was_measured():
    """After five outcomes: those, and their finals if there is time; nothing hangs."""
    stop = threading.Event()

    def listener(event):
        if event.done >= 5:
            stop.set()

    workers = [Worker(Waiting, 1.0), Worker(Waiting, 1.0)]
    search, _ = search_on(workers, stop, listener, tiles=40)
    assert search.stopped == "interrupted"
    assert 5 <= len(search.outcomes) < 40
    assert all(isinstance(o, Measured) for o in search.outcomes.values())


def test_each_device_counts_once():
    """One UUID under two ordinals is one device, the first."""
    assert distinct([ONE, TWO, SAME]) == [ONE, TWO]


def test_other_models_are_left_out_and_said(caplog):
    """Times of two models do not belong into one record."""
    with caplog.at_level(logging.WARNING, "phobos_nb"):
        assert of_one_model([ONE, OTHER, TWO], "NVIDIA H200") == [ONE, TWO]
    assert "left out: NVIDIA A100" in caplog.text
    with pytest.raises(PhobosError, match="none is of the arrays' model NVIDIA T4"):
        of_one_model([ONE, OTHER], "NVIDIA T4")


def test_gpus_by_ordinal(monkeypatch):
    """Ordinals that are there and of the arrays' model; "all" is those of the model."""
    monkeypatch.setattr(devices, "gpus_here", lambda: [ONE, TWO, OTHER])
    assert choose_here([1, 0, 1], "NVIDIA H200") == [TWO, ONE]
    assert choose_here("all", "NVIDIA H200") == [ONE, TWO]
    with pytest.raises(PhobosError, match="GPUs 0 to 2"):
        choose_here([3], "NVIDIA H200")
    with pytest.raises(PhobosError, match="GPU 2 is NVIDIA A100"):
        choose_here([0, 2], "NVIDIA H200")


@pytest.mark.parametrize(
    ("options", "said"),
    [({"devices": "all"}, "arrays on a GPU"), ({"devices": [0], "isolate": False}, "isolate=False")],
)
def test_devices_that_cannot_be(options, said):
    """NumPy arrays have no GPUs; a device needs a process."""
    (kernel,) = ph.compile(SAXPY)
    x, y = np.zeros(256, np.float32), np.zeros(256, np.float32)
    with pytest.raises(PhobosError, match=said):
        kernel.tune(x, y, remember=False, **options)


def test_a_process_is_a_device_on_the_cpu():
    """Its identity is the host's name and its own number."""
    (found,) = devices.cpu_here()
    assert found.uuid.endswith(f"/{os.getpid()}")
    assert found.model == "cpu"
