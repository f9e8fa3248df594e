"""Searches in the background: read while they run, stopped, waited for."""

import gc
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.tune.live import replay_live
from phobos_nb.tune.pace import Pace
from phobos_nb.tune.search import Event
from tests.tune.recorded import record

SCALE = """
@autotune(TILE in [16, 64])
kernel scale_live(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32) {
  let i = ctx.block.x
  Y[i * TILE :+ TILE] = a * X[i * TILE :+ TILE]
}
"""


def test_what_is_found_so_far_can_be_read_while_it_runs():
    """Outcomes come one by one; the callback hears of each; the result is there at the end."""
    seen = []
    live = replay_live(record(), pace=0.002)
    live.on_change(lambda: seen.append(len(live.record.outcomes)))
    tuning = live.result(60)
    assert not live.running
    assert live.finished
    assert seen == sorted(seen)
    assert seen[-1] == 64
    assert len(set(seen)) > 10
    assert live.record is tuning.record
    assert tuning.best == {"M": 128, "N": 256, "K": 8}


def test_a_stopped_search_keeps_the_best_so_far():
    """Stop is obeyed within a moment, in either stage."""
    live = replay_live(record(), pace=0.02)
    reached = threading.Event()
    live.on_change(lambda: len(live.record.outcomes) >= 5 and reached.set())
    assert reached.wait(30)
    with pytest.raises(TimeoutError):
        live.result(0)
    live.stop()
    tuning = live.result(10)
    assert tuning.stopped == "interrupted"
    assert 5 <= len(tuning.record.outcomes) < 64
    assert tuning.best is not None


def test_a_call_is_tuned_in_the_background(tmp_path, monkeypatch):
    """The options and the errors of `tune`; the caller's thread is free meanwhile."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    (kernel,) = ph.compile(SCALE)
    x = np.ones(256, np.float32)
    y = np.empty_like(x)
    start = time.perf_counter()
    live = ph.autotune_live(kernel, x, y, 2.0, rounds=9, isolate=False)
    assert time.perf_counter() - start < 5
    assert len(live.result(60).measured) == 3
    with pytest.raises(ph.PhobosError, match="cache"):
        ph.autotune_live(kernel, x, y, 2.0, cache="hot")


def test_an_error_of_the_search_is_raised_by_its_result(tmp_path, monkeypatch):
    """A reference without the output is found in the thread and handed on."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    (kernel,) = ph.compile(SCALE)
    x = np.ones(256, np.float32)
    live = ph.autotune_live(kernel, x, np.empty_like(x), 2.0, reference={}, isolate=False)
    with pytest.raises(ph.PhobosError, match="reference: no values"):
        live.result(60)


def test_use_pins_what_calls_take():
    """`use` beats records and defaults for calls; without names it ends."""
    (kernel,) = ph.compile(SCALE)
    target = kernel.compile().configuration.target
    before = kernel.constants_for({"N": 256}, target)
    kernel.use(TILE=64)
    assert kernel.constants_for({"N": 256}, target) == {"TILE": 64}
    kernel.use()
    assert kernel.constants_for({"N": 256}, target) == before


SLOW = """
@autotune(TILE in [16, 1024], ROWS in [1, 4])
kernel scale_slow(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32) {
  let i = ctx.block.x
  Y[i * TILE :+ TILE] = a * X[i * TILE :+ TILE]
}
"""


def started(kernel, found, **options):
    """A search of 21 configurations, once it has measured some of them."""
    x = np.ones(1 << 15, np.float32)
    live = ph.autotune_live(kernel, x, np.empty_like(x), 2.0, rounds=5, isolate=False, **options)
    deadline = time.monotonic() + 60
    while len(live.record.outcomes) < found:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return live


def test_a_stopped_search_goes_on_without_measuring_again(tmp_path, monkeypatch):
    """Nothing is kept on disk: what was found is in the search itself, to the digit."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    (kernel,) = ph.compile(SLOW)
    live = started(kernel, 3, remember=False)
    live.stop()
    before = {n: o.times for n, o in live.result(60).record.outcomes.items()}
    assert live.can_resume
    assert 3 <= len(before) < 21
    live.resume()
    found = live.result(120)
    assert found.stopped == ""
    assert len(found.record.outcomes) == 21
    assert found.fresh == 21 - len(before)
    assert {n: found.record.outcomes[n].times for n in before} == before
    assert not live.can_resume


def test_a_search_that_is_still_stopping_can_be_resumed():
    """`resume` right after `stop` is not lost: everything is measured in the end."""
    live = replay_live(record(), pace=0.02)
    live.stop()
    live.resume()
    tuning = live.result(60)
    assert tuning.stopped == ""
    assert len(tuning.record.outcomes) == 64


def test_a_second_search_of_a_call_ends_the_first_and_goes_on_from_it(tmp_path, monkeypatch):
    """As when a cell is run again: two at once would spoil each other's times."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    (kernel,) = ph.compile(SLOW)
    first = started(kernel, 3)
    x = np.ones(1 << 15, np.float32)
    second = ph.autotune_live(kernel, x, np.empty_like(x), 2.0, rounds=5, isolate=False)
    assert first.result(60).stopped == "interrupted"
    before = first.result().record.outcomes
    found = second.result(120)
    assert found.fresh == 21 - len(before)
    assert {n: found.record.outcomes[n].times for n in before} == {n: o.times for n, o in before.items()}


def test_a_search_that_nobody_holds_is_not_kept(tmp_path, monkeypatch):
    """The table of running searches is weak."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    (kernel,) = ph.compile(SCALE)
    x = np.ones(256, np.float32)
    live = ph.autotune_live(kernel, x, np.empty_like(x), 2.0, rounds=5, isolate=False)
    live.result(60)
    gone = weakref.ref(live)
    del live
    gc.collect()
    assert gone() is None


def test_the_pace_tells_what_is_left():
    """Of the last events of a stage; a new stage begins anew; nothing is said after one event."""
    pace = Pace()
    for i in range(40):
        pace = pace.after(Event("first", i + 1, 64), 0.5 * i)
        if i == 0:
            assert pace.seconds_left is None
    assert pace.seconds_left == pytest.approx(0.5 * 24)
    assert pace.after(Event("finals", 1, 25), 30.0).seconds_left is None


def test_an_unknown_strategy_is_said_before_the_search_begins():
    """Not in the background, where nobody asks for the result."""
    x = np.zeros(64, np.float32)
    saxpy = ph.load(Path(__file__).parents[2] / "examples" / "saxpy_fp32.ph", chip="sm_80").saxpy
    with pytest.raises(ph.PhobosError, match="unknown strategy 'best'"):
        ph.autotune_live(saxpy, x, x.copy(), 0.5, strategy="best")
