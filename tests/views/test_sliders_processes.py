"""Sliders compile and measure in other processes: moves drop older work, and nothing is left running."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from phobos_nb.target import get
from phobos_nb.tune.compile_job import Compiled
from phobos_nb.tune.pool import Caller
from phobos_nb.views.roofline_roofs import FMA, Roofs, nominal, with_measured
from phobos_nb.views.sliders import SlidersView, Timing
from phobos_nb.views.sliders_session import Sliders
from phobos_nb.views.sliders_worker import DroppableWorker, DroppedError
from tests.views.sliders_made import LONG, SIZE, gemm, sliders_of

HALF_A_MINUTE = 30.0
pytestmark = pytest.mark.usefixtures("made_arrays_on_the_cpu")


def watched(sliders: Sliders) -> list[SlidersView]:
    seen: list[SlidersView] = []
    sliders.on_change(lambda: seen.append(sliders.view))
    return seen


def test_moves_in_quick_succession_compile_once() -> None:
    """Of five moves within the delay only the last is compiled."""
    found = sliders_of(gemm(), delay=1.0)
    found.wait(LONG)
    seen = watched(found)
    for tile in (64, 32, 64, 32, 128):
        found.move({"TILE_M": tile})
    view = found.wait(LONG)
    assert view.constants["TILE_M"] == 128
    assert {v.compiled for v in seen} == {"TILE_K=8 TILE_M=32 TILE_N=32", view.label}
    found.close()


def test_a_move_drops_what_is_being_compiled() -> None:
    """The older compile never shows; the newer one does."""
    found = sliders_of(gemm(), delay=0.0)
    found.wait(LONG)
    seen = watched(found)
    found.move({"TILE_M": 128, "TILE_N": 256})  # a long one
    dropped = found.view.label
    time.sleep(0.3)  # under way
    found.move({"TILE_M": 64})
    view = found.wait(LONG)
    assert view.label == view.compiled == "TILE_K=8 TILE_M=64 TILE_N=256"
    assert dropped not in {v.compiled for v in seen}
    found.close()


def test_dropped_work_ends_at_once_and_the_next_call_is_answered() -> None:
    """A sleep of a minute is dropped within seconds; the process that stood by answers."""
    worker = DroppableWorker(Caller, timeout=LONG)
    assert not worker.drop()
    assert worker.call("run", sum, ([1, 2],), {}) == 3
    worker.stand_by()
    start = time.monotonic()
    threading.Timer(1.0, worker.drop).start()
    with pytest.raises(DroppedError):
        worker.call("run", time.sleep, (60,), {})
    assert worker.call("run", sum, ([3, 4],), {}) == 7
    assert time.monotonic() - start < 30
    worker.close()


def test_a_crash_in_the_worker_is_shown(sliders: Sliders) -> None:
    """A process that dies again and again is a failure of the configuration, not of the notebook."""
    sliders._desk.close()
    sliders._desk = DroppableWorker(Caller, timeout=LONG)  # a process that has no `compile`
    sliders.move({"TILE_M": 64})
    view = sliders.wait(LONG)
    assert view.state == "failed"
    assert "compile" in view.message
    sliders._desk.close()


def test_moving_never_waits_for_a_compilation(sliders: Sliders) -> None:
    """A move returns in a fraction of the time that a configuration takes to compile."""
    times: list[float] = []
    for tile in (64, 128, 32):
        start = time.perf_counter()
        sliders.move({"TILE_N": tile})
        times.append(time.perf_counter() - start)
        time.sleep(0.2)
    assert min(times) < 0.2
    assert sliders.wait(LONG).constants["TILE_N"] == 32


class SlowClock:
    """In place of a GPU: takes two seconds for a time that tells configurations apart.

    Its measured roofs are twice the nominal ones.
    """

    def time(self, compiled: Compiled) -> Timing:
        time.sleep(2.0)
        return Timing(float(compiled.constants["TILE_M"]))

    def roofs(self) -> Roofs:
        target = get("sm_90a")
        base = nominal(target, target.cards[-1])
        return with_measured(base, "a GPU", {r.name: 2 * r.rate for r in base.roofs}, "by hand")

    def close(self) -> None:
        """Nothing to end."""


@pytest.mark.nvrtc
def test_a_slow_measurement_holds_no_move_up(sliders: Sliders) -> None:
    """While one configuration is timed the next one compiles; old times are never shown as new ones."""
    assert sliders.view.roofline is not None
    roofs_before = sliders.view.roofline.roofs
    assert not roofs_before.measured
    sliders._stopwatch = SlowClock()  # pyright: ignore - a GPU is not to be had
    seen = watched(sliders)
    sliders.move({"TILE_M": 128})
    wait_for(lambda: sliders.view.compiled.startswith("TILE_K=8 TILE_M=128"))
    assert sliders.view.timing.missing == "measuring ..."
    sliders.move({"TILE_M": 64})
    view = sliders.wait(LONG)
    assert view.timing.ms == 64.0
    assert all(v.timing.ms in (None, 64.0) for v in seen)
    assert view.roofline is not None
    assert view.roofline.points[-1].microseconds == 64e3
    assert [p.label for p in view.roofline.points].count(view.label) == 1
    assert view.roofline.roofs.measured
    assert view.roofline.roofs.rate(FMA) == 2 * (roofs_before.rate(FMA) or 0)


WITHOUT_NVRTC = """
import sys
sys.modules["cuda.bindings.nvrtc"] = None  # as if it were not installed
import phobos_nb
from phobos_nb.views.roofline_arguments import call_values
from phobos_nb.views.sliders_job import compiled
from phobos_nb.views.roofline_of import Looked
kernel = phobos_nb.compile("kernel k(A: tensor<f32>[N]) {\\n  A[0] = 1.0\\n}").k
found = compiled(Looked(*call_values(kernel, (), {})[:2], 1), {})
print(found.failed or "no failure", found.compiled, [n.text for n in found.view.notes])
"""


def test_without_nvrtc_the_rest_is_shown() -> None:
    """No machine code is no failure: a note says what to install."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_NVRTC], capture_output=True, text=True)
    assert done.stdout.startswith("no failure None"), done.stderr
    assert "without NVRTC there is no PTX and no machine code" in done.stdout


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONG
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert condition()


def test_processes_end_with_the_sliders() -> None:
    """Closed or forgotten, no child process is left."""
    found = sliders_of(gemm())
    found.move({"TILE_M": 64})
    found.wait(LONG)
    desk = found._desk
    assert any(w._child is not None for w in desk._workers)
    del found
    deadline = time.monotonic() + HALF_A_MINUTE
    while any(w._child is not None for w in desk._workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert all(w._child is None for w in desk._workers)


def test_a_cell_that_runs_again_ends_the_older_processes() -> None:
    """Made anew, the older sliders of a kernel hold no process; they still answer a move."""
    first = gemm().interact(**SIZE).sliders
    first.move({"TILE_M": 64})
    first.wait(LONG)
    second = gemm().interact(**SIZE).sliders
    assert all(w._child is None for w in first._desk._workers)
    first.move({"TILE_M": 128})
    assert first.wait(LONG).state == "ready"
    first.close()
    second.close()
