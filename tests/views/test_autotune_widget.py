"""The live view of a search: its traits and messages, without a browser."""

from __future__ import annotations

import gc
import json
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.tune import records, t4
from phobos_nb.tune.live import replay_live
from phobos_nb.tune.replay import replay
from phobos_nb.views.autotune_widget import AutotuneWidget
from tests.tune.recorded import record

ROOT = Path(__file__).parents[2]
SEED = ROOT / "results" / "tune_seed.json"
GEMM = """
@autotune(M in [32, 256], N in [32, 256], K in [4, 32])
kernel gemm(X: tensor<f32>[L], Y: tensor<f32>[L]) {
  let i = ctx.block.x
  Y[i * M :+ M] = X[i * M :+ M] * 1.0
}
"""


def wait_until(holds, seconds=20):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def press(widget, **content):
    """What a button of the browser sends."""
    widget._receive(widget, content, [])


def test_the_model_follows_the_search():
    """While it runs the traits fill; at the end all configurations are there and nothing runs."""
    live = replay_live(record(), pace=0.002)
    widget = AutotuneWidget(live)
    live.result(60)
    wait_until(lambda: not widget.progress["running"])
    assert len(widget.view["points"]) == 64
    assert widget.view["recorded"] == "Example GPU, 2026-11-29 12:00:00 UTC"
    assert (widget.progress["stage"], widget.progress["done"]) == ("finals", 25)
    assert not widget.progress["can_resume"]
    assert not widget.can_use


def test_the_time_left_is_told_while_it_runs():
    """At 20 ms per outcome, 64 of them: after some, between a tenth of a second and ten."""
    live = replay_live(record(), pace=0.02)
    widget = AutotuneWidget(live)
    wait_until(lambda: widget.progress["stage"] == "first" and widget.progress["done"] >= 8)
    assert 0.1 < widget.progress["left"] < 10
    assert widget.progress["total"] == 64
    live.stop()
    live.result(10)


def test_a_picked_configuration_is_put_to_use():
    """The browser's message makes calls of the kernel take it; a failed one is refused."""
    (kernel,) = ph.compile(GEMM)
    widget = AutotuneWidget(replay(record()), kernel)
    assert widget.can_use
    press(widget, do="use", label="K=8 M=128 N=64")
    assert widget.used == "K=8 M=128 N=64"
    target = kernel.compile().configuration.target
    assert kernel.constants_for({"L": 4096}, target) == {"K": 8, "M": 128, "N": 64}
    with pytest.raises(KeyError):
        widget.use("K=4 M=256 N=256")
    press(widget, do="unuse")
    assert widget.used == ""
    assert kernel.constants_for({"L": 4096}, target) != {"K": 8, "M": 128, "N": 64}


def test_the_browser_stops_the_search_and_resumes_it():
    """Stop keeps the best so far; Resume measures the rest and nothing again."""
    live = replay_live(record(), pace=0.02)
    widget = AutotuneWidget(live)
    wait_until(lambda: len(live.record.outcomes) >= 5)
    press(widget, do="stop")
    stopped = live.result(10)
    assert stopped.stopped == "interrupted"
    before = dict(stopped.record.outcomes)
    assert 5 <= len(before) < 64
    wait_until(lambda: widget.progress["can_resume"])
    assert any(p["status"] == "winner" for p in widget.view["points"])
    press(widget, do="resume")
    assert widget.progress["running"]
    assert len(widget.view["points"]) == len(before)
    found = live.result(60)
    assert found.stopped == ""
    assert len(found.record.outcomes) == 64
    assert all(getattr(found.record.outcomes[n], "times", 0) == getattr(o, "times", 0)
               for n, o in before.items())  # fmt: skip


def test_an_error_of_the_search_is_shown():
    """A strategy that does not exist ends the search; the view says so instead of waiting for ever."""
    live = replay_live(record(), strategy="annealing")
    widget = AutotuneWidget(live)
    wait_until(lambda: widget.progress["problem"])
    assert "annealing" in widget.progress["problem"]


def test_picking_tells_what_the_compiler_says_of_it():
    """The notes of a real configuration of the recorded search: its loop is pipelined."""
    kernel = ph.load(ROOT / "examples" / "gemm_fp32.ph").gemm
    widget = AutotuneWidget(replay(records.read(SEED)), kernel)
    widget.picked = "TILE_K=8 TILE_M=64 TILE_N=64"
    wait_until(lambda: widget.picked in widget.notes, 60)
    assert any("pipelined in" in note for note in widget.notes[widget.picked])


def test_only_where_a_held_key_comes_to_rest_is_compiled():
    """Of twelve picks in a moment the last gets its notes; one that was passed gets them later."""
    kernel = ph.load(ROOT / "examples" / "gemm_fp32.ph").gemm
    widget = AutotuneWidget(replay(records.read(SEED)), kernel)
    picks = [f"TILE_K={k} TILE_M=32 TILE_N={n}" for k in (4, 8, 16) for n in (32, 64, 128, 256)]
    for label in picks:
        widget.picked = label
    wait_until(lambda: picks[-1] in widget.notes, 60)
    assert len(widget.notes) < len(picks)
    passed = next(label for label in picks if label not in widget.notes)
    widget.picked = passed
    wait_until(lambda: passed in widget.notes, 60)


@pytest.mark.nvrtc
def test_a_comparison_shows_what_differs_in_the_code():
    """Numbers at once, then the lines of each stage that only one of the two has."""
    kernel = ph.load(ROOT / "examples" / "gemm_fp32.ph").gemm
    widget = AutotuneWidget(replay(records.read(SEED)), kernel)
    pair = ["TILE_K=4 TILE_M=32 TILE_N=32", "TILE_K=8 TILE_M=32 TILE_N=32"]
    press(widget, do="compare", labels=pair)
    assert widget.comparison["labels"] == pair
    wait_until(lambda: widget.comparison["panes"], 120)
    panes = {pane["title"]: pane for pane in widget.comparison["panes"]}
    assert {"Tile MLIR", "Thread MLIR", "CUDA", "PTX"} <= set(panes)
    assert any(line.startswith("-") and "32x4xf32" in line for line in panes["Tile MLIR"]["lines"])
    assert any(line.startswith("+") and "32x8xf32" in line for line in panes["Tile MLIR"]["lines"])
    press(widget, do="compare", labels=[])
    assert widget.comparison == {}


def test_a_record_without_a_kernel_is_compared_by_its_numbers():
    """No code is asked for, and nothing is said to be coming."""
    widget = AutotuneWidget(replay(record()))
    press(widget, do="compare", labels=["K=8 M=128 N=64", "K=8 M=128 N=256"])
    assert widget.comparison["state"] == ""
    assert widget.comparison["panes"] == []


def test_exports_say_where_they_are(tmp_path, monkeypatch):
    """T4 for other tuners and our own record, both in the notebook's folder, both readable again."""
    monkeypatch.chdir(tmp_path)
    widget = AutotuneWidget(replay(record()))
    press(widget, do="export", kind="T4")
    path = tmp_path / "gemm-512x512x512.t4.json"
    assert widget.message == f"written: {path}"
    assert len(t4.read(path)) == 64
    press(widget, do="export", kind="record")
    assert records.read(tmp_path / "gemm-512x512x512.record.json").best == {"M": 128, "N": 256, "K": 8}


def test_a_picked_configuration_is_exported_with_a_line_of_python(tmp_path, monkeypatch):
    """Its constants and what they were measured for; a failed one is refused."""
    monkeypatch.chdir(tmp_path)
    widget = AutotuneWidget(replay(record()))
    press(widget, do="export", kind="configuration", label="K=8 M=128 N=64")
    path = tmp_path / "gemm-512x512x512.config.json"
    assert widget.message == f"written: {path}; in Python: gemm.specialize(M=128, N=64, K=8)"
    kept = json.loads(path.read_text())
    assert kept["constants"] == {"M": 128, "N": 64, "K": 8}
    assert (kept["device"], kept["extents"]["M"]) == ("Example GPU", 512)
    with pytest.raises(KeyError):
        widget.export("configuration", "K=4 M=256 N=256")


def test_a_search_that_was_known_already_says_so(tmp_path, monkeypatch):
    """Nothing was measured: all points are of the record, whose date is told."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    (kernel,) = ph.compile(GEMM.replace("[32, 256]", "[32, 64]").replace("[4, 32]", "[4, 4]"))
    x = np.ones(512, np.float32)
    for remark in ("", "known from the search of 2"):
        live = ph.autotune_live(kernel, x, x.copy(), rounds=3, samples=2, isolate=False)
        widget = AutotuneWidget(live)
        live.result(60)
        wait_until(lambda w=widget: not w.progress["running"])
        assert widget.progress["remark"].startswith(remark)
        assert bool(widget.progress["remark"]) == bool(remark)


def test_a_folder_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    """The button says so instead of doing nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gemm-512x512x512.t4.json").mkdir()
    widget = AutotuneWidget(replay(record()))
    press(widget, do="export", kind="T4")
    assert widget.message.startswith("not written: ")


def test_a_closed_view_is_not_kept_by_its_search():
    """Neither callbacks nor threads remain, and the object itself is gone."""
    threads = set(threading.enumerate())
    live = replay_live(record(), pace=0.002)
    widget = AutotuneWidget(live)
    gone = weakref.ref(widget)
    widget.close()
    live.result(60)
    del widget
    gc.collect()
    assert gone() is None
    wait_until(lambda: set(threading.enumerate()) <= threads)


def test_what_is_sent_is_json():
    """Every trait is plain data without nan: browsers reject it."""
    widget = AutotuneWidget(replay(record()))
    for name in ("view", "shown", "progress", "notes", "comparison"):
        json.dumps(getattr(widget, name), allow_nan=False)


def test_a_saved_notebook_shows_html_and_text():
    """Beside the widget stand forms without scripts and without a memory address."""
    data, _ = AutotuneWidget(replay(record()))._repr_mimebundle_()
    assert set(data) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    assert " at 0x" not in data["text/plain"]
