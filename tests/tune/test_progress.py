"""The line that follows a search: when it is shown, where, and what it says."""

import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.tune.outcome import Failed, Kind, Measured
from phobos_nb.tune.progress import Progress, display_of_this_process
from phobos_nb.tune.search import Event

SAXPY = """
@autotune(TILE in [16, 64])
kernel saxpy(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32) {
  let i = ctx.block.x
  Y[i * TILE :+ TILE] = a * X[i * TILE :+ TILE] + Y[i * TILE :+ TILE]
}
"""


@pytest.fixture(autouse=True)
def own_records(tmp_path, monkeypatch):
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))


class Terminal(io.StringIO):
    """Standard output that is looked at."""

    def isatty(self):
        return True


def tuned(**options):
    (saxpy,) = ph.compile(SAXPY)
    x, y = np.ones(256, np.float32), np.ones(256, np.float32)
    return saxpy.tune(x, y, 0.5, rounds=5, samples=2, isolate=False, **options)


def test_a_terminal_sees_one_line_that_changes(monkeypatch, capsys):
    """Carriage returns, one newline at the end, nothing on standard error."""
    out = Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    tuned()
    text = out.getvalue()
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert "\rsaxpy N=256: " in text
    assert "best " in text
    assert capsys.readouterr().err == ""


def test_a_file_a_pipe_and_a_user_who_turned_it_off_see_nothing(monkeypatch, capsys):
    """Output that nobody looks at stays clean; PHOBOS_PROGRESS=0 counts everywhere."""
    tuned()
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("PHOBOS_PROGRESS", "0")
    tuned(resume=False)
    assert sys.stdout.getvalue() == ""


def test_a_listener_takes_the_displays_place(monkeypatch):
    """Whoever listens shows what it likes."""
    monkeypatch.setattr(sys, "stdout", Terminal())
    events = []
    tuned(listener=events.append)
    assert events
    assert sys.stdout.getvalue() == ""


def test_a_notebook_has_one_display_that_is_replaced():
    """In a real kernel: one display, updates of it, nothing on standard error or output."""
    jupyter = pytest.importorskip("jupyter_client.manager")
    pytest.importorskip("ipykernel")
    code = f"""
import numpy as np
import phobos_nb as ph
(saxpy,) = ph.compile({SAXPY!r})
x, y = np.ones(256, np.float32), np.ones(256, np.float32)
saxpy.tune(x, y, 0.5, rounds=5, samples=2, isolate=False);
"""
    manager, client = jupyter.start_new_kernel(cwd=str(Path(__file__).parents[2]))
    messages = []
    try:
        reply = client.execute_interactive(code, timeout=60, output_hook=messages.append)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert reply["content"]["status"] == "ok"
    kinds = [m["msg_type"] for m in messages if m["msg_type"] not in ("status", "execute_input")]
    assert kinds[0] == "display_data"
    assert set(kinds[1:]) == {"update_display_data"}
    last = messages[-2] if messages[-1]["msg_type"] == "status" else messages[-1]
    assert re.match(r"saxpy N=256: (\d+)/\1 rounds of the finals", last["content"]["data"]["text/plain"])


def test_the_line_names_the_best_the_failures_and_the_time_left():
    """After 5 of 20 in 10 s, 30 s are left."""
    lines, now = [], [0.0]
    line = Progress("gemm", lines.append, lines.append, lambda: now[0])
    now[0] = 10.0
    line(Event("first", 4, 20, Failed({"T": 1}, Kind.COMPILE, "no")))
    now[0] = 10.01
    line(Event("first", 5, 20, Measured({"T": 2}, (2.0,))))
    assert len(lines) == 1  # not more often than every tenth of a second
    line.close()
    assert lines[1] == "gemm: 5/20 configurations, best 2 ms (T=2), 1 failed, 30 s left"


def test_without_a_terminal_or_notebook_there_is_no_display(monkeypatch):
    """Under pytest standard output is a file."""
    monkeypatch.delenv("PHOBOS_PROGRESS", raising=False)
    assert display_of_this_process() is None
