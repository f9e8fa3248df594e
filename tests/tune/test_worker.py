"""Processes that may hang or crash, and the pool that compiles in them."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from phobos_nb.options import child_environment
from phobos_nb.tune.outcome import Failed, Kind, Measured
from phobos_nb.tune.pool import Caller, WorkerPool
from phobos_nb.tune.runner import MOST_LOADED, LiveRunner, Local
from phobos_nb.tune.search import Plan, Search
from phobos_nb.tune.space import Space
from phobos_nb.tune.strategies import Setting, make
from phobos_nb.tune.worker import RemoteError, Worker, WorkerCrashError, WorkerTimeoutError
from tests.tune import faults


@pytest.fixture
def worker():
    made = Worker(Caller)
    yield made
    made.close()


def test_results_and_exceptions_come_back(worker):
    """A result; an exception by class and text, after which the same process goes on."""
    assert worker.call("run", faults.add, (2, 3), {}) == 5
    with pytest.raises(RemoteError, match="ValueError: why") as caught:
        worker.call("run", faults.raise_error, ("why",), {})
    assert (caught.value.kind, caught.value.text) == ("ValueError", "why")
    assert worker.call("run", os.getpid, (), {}) != os.getpid()
    assert worker.generation == 1


def test_a_hang_is_ended_and_the_next_call_starts_anew(worker):
    """A call that does not answer within its time raises, and its process is gone."""
    process = worker.call("run", os.getpid, (), {})
    start = time.perf_counter()
    with pytest.raises(WorkerTimeoutError, match=r"0\.5 s"):
        worker.call("run", faults.hang, (), {}, timeout=0.5)
    assert time.perf_counter() - start < 10
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert worker.call("run", faults.add, (1, 1), {}) == 2
    assert worker.generation == 2


def test_a_crash_says_by_which_signal(worker):
    """An abort in the child is an exception here."""
    with pytest.raises(WorkerCrashError, match="SIGABRT"):
        worker.call("run", faults.abort, (), {})
    assert worker.call("run", faults.add, (1, 1), {}) == 2


def test_a_script_without_a_main_guard_is_not_run_again(tmp_path):
    """The child is a fresh interpreter, not a copy of the caller's main module."""
    script = tmp_path / "script.py"
    script.write_text(
        "from phobos_nb.tune.worker import Worker\n"
        "from phobos_nb.tune.pool import Caller\n"
        "print('once')\n"
        "w = Worker(Caller)\n"
        "print(w.call('run', abs, (-3,), {}))\n"
        "w.close()\n"
    )
    environment = child_environment({"PYTHONPATH": str(Path(__file__).parents[2])})
    run = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, env=environment
    )
    assert run.stdout.split() == ["once", "3"]


def test_the_pool_goes_on_after_hangs_and_crashes():
    """Each task's future has its own exception; tasks behind a lost process are done by a new one."""
    pool = WorkerPool(2, timeout=8.0)
    futures = [pool.submit(f) for f in (faults.hang, faults.abort)]
    futures += [pool.submit(faults.add, i, i) for i in range(6)]
    assert isinstance(futures[0].exception(60), WorkerTimeoutError)
    assert isinstance(futures[1].exception(60), WorkerCrashError)
    assert [f.result(60) for f in futures[2:]] == [0, 2, 4, 6, 8, 10]
    pool.shutdown()
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(faults.add, 1, 1)


def search_with_faults(executor, timeout=8.0):
    """A search over TILE = 1..11 with the planted faults of `faults`."""
    space = Space({"TILE": tuple(range(1, 12))})
    runner = LiveRunner(executor, 3, faults.job, Worker(faults.FaultyBench), timeout)
    strategy = make("exhaustive", Setting(space, samples=2))
    search = Search(runner, strategy, Plan(rounds=9, finalists=3), len(space))
    search.run()
    runner.close()
    return search


@pytest.mark.slow
def test_every_planted_fault_is_reported_and_none_wins():
    """Bad compile; hang, abort while compiling; hang, abort, NaN-but-fastest, bad launch; late abort."""
    pool = WorkerPool(2, timeout=8.0)
    found = search_with_faults(pool).outcomes
    pool.shutdown()
    kinds = {o.constants["TILE"]: o.kind for o in found.values() if isinstance(o, Failed)}
    assert kinds == {
        2: Kind.COMPILE,
        3: Kind.TIMEOUT,
        4: Kind.CRASH,
        5: Kind.TIMEOUT,
        6: Kind.CRASH,
        7: Kind.WRONG,
        8: Kind.LAUNCH,
        9: Kind.CRASH,
        11: Kind.CRASH,
    }
    good = [o for o in found.values() if isinstance(o, Measured)]
    assert {o.constants["TILE"] for o in good} == {1, 10}
    assert all(len(o.rounds) == 9 for o in good)


def test_a_big_space_does_not_stay_loaded():
    """Of 100 configurations the slowest are dropped on the way; finalists are loaded when timed."""
    benches = []

    class Keeping(faults.FaultyBench):
        def __init__(self):
            self.loaded, self.most = set(), 0
            benches.append(self)

        def check(self, name, compiled):
            self.loaded.add(name)
            self.most = max(self.most, len(self.loaded))
            return super().check(name, compiled)

        def time(self, name, samples):
            assert name in self.loaded
            return super().time(name, samples)

        def drop(self, name):
            self.loaded.remove(name)

    space = Space({"TILE": tuple(range(20, 120))})
    with ThreadPoolExecutor(2) as threads:
        runner = LiveRunner(threads, 2, faults.job, Local(Keeping), 5.0)
        search = Search(runner, make("exhaustive", Setting(space)), Plan(rounds=9), len(space))
        search.run()
        runner.close()
    assert len([o for o in search.outcomes.values() if isinstance(o, Measured)]) == 100
    assert benches[0].most <= MOST_LOADED + 1
    assert {o.constants["TILE"] for o in search.outcomes.values() if getattr(o, "rounds", ())} == {
        *range(112, 120)
    }


def test_any_executor_compiles():
    """Threads of the standard library do, with faults that threads can survive."""
    space = Space({"TILE": (1, 2, 7, 10)})
    with ThreadPoolExecutor(2) as threads:
        runner = LiveRunner(threads, 2, faults.job, Worker(faults.FaultyBench), 5.0)
        search = Search(runner, make("exhaustive", Setting(space)), Plan(rounds=3), len(space))
        search.run()
        runner.close()
    kinds = {o.constants["TILE"]: o.kind for o in search.outcomes.values() if isinstance(o, Failed)}
    assert kinds == {2: Kind.COMPILE, 7: Kind.WRONG}


def test_a_compilation_that_nobody_waits_for_any_more_ends_quietly(caplog):
    """A search that ends cancels what is under way: its end is no error in the log."""
    begun, may_end = threading.Event(), threading.Event()

    def job(_: object) -> object:
        begun.set()
        may_end.wait(5.0)
        raise ValueError("too late")

    with ThreadPoolExecutor(1) as threads:
        runner = LiveRunner(threads, 1, lambda c: (job, c), Worker(faults.FaultyBench), 5.0)
        made = runner.start({"TILE": 1})
        assert begun.wait(5.0)
        assert made.cancel()
        may_end.set()
    runner.close()
    assert [r for r in caplog.records if r.name == "concurrent.futures"] == []
