"""The live view of a search: its traits and messages, and a replay in a real JupyterLab."""

from __future__ import annotations

import time

import pytest

import phobos_nb as ph
from phobos_nb.tune.live import replay_live
from phobos_nb.tune.replay import replay
from phobos_nb.views.autotune_widget import AutotuneWidget
from tests.tune.recorded import record
from tools.lab import Lab

BEST = "K=8 M=128 N=256"
GEMM = """
@autotune(M in [32, 256], N in [32, 256], K in [4, 32])
kernel gemm(X: tensor<f32>[L], Y: tensor<f32>[L]) {
  let i = ctx.block.x
  Y[i * M :+ M] = X[i * M :+ M] * 1.0
}
"""


def test_the_model_follows_the_search():
    """While it runs the traits fill; at the end all configurations are there and nothing runs."""
    live = replay_live(record(), pace=0.002)
    widget = AutotuneWidget(live)
    live.result(60)
    deadline = time.monotonic() + 10
    while widget.running and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not widget.running
    assert len(widget.view["points"]) == 64
    assert widget.view["recorded"] == "Example GPU, 2026-11-29 12:00:00 UTC"
    assert widget.rounds == [25, 25]
    assert not widget.can_use


def test_a_picked_configuration_is_put_to_use():
    """The browser's message makes calls of the kernel take it; a failed one is refused."""
    (kernel,) = ph.compile(GEMM)
    widget = AutotuneWidget(replay(record()), kernel)
    assert widget.can_use
    widget._receive(widget, {"do": "use", "label": "K=8 M=128 N=64"}, [])
    assert widget.used == "K=8 M=128 N=64"
    target = kernel.compile().configuration.target
    assert kernel.constants_for({"L": 4096}, target) == {"K": 8, "M": 128, "N": 64}
    with pytest.raises(KeyError):
        widget.use("K=4 M=256 N=256")


def test_the_browser_can_stop_the_search():
    """A stop message ends it with what there is."""
    live = replay_live(record(), pace=0.05)
    widget = AutotuneWidget(live)
    widget._receive(widget, {"do": "stop"}, [])
    assert live.result(10).stopped == "interrupted"


def test_a_saved_notebook_shows_html_and_text():
    """Beside the widget stand forms without scripts and without a memory address."""
    data, _ = AutotuneWidget(replay(record()))._repr_mimebundle_()
    assert set(data) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    assert " at 0x" not in data["text/plain"]


CELLS = [
    "import phobos_nb as ph\n"
    "from phobos_nb.tune.live import replay_live\n"
    "from tests.tune.recorded import record\n"
    f"(kernel,) = ph.compile({GEMM!r})\n"
    "live = replay_live(record(), pace=0.1)\n"
    "widget = ph.AutotuneWidget(live, kernel)\n"
    "widget",
    "target = kernel.compile().configuration.target\n"
    "live.result(60)\n"
    "print('calls use', kernel.constants_for({'L': 4096}, target))",
]


@pytest.mark.browser
@pytest.mark.slow
def test_a_replay_drives_the_widget_in_jupyterlab(lab: Lab) -> None:
    """Points appear while it runs; one is picked by keyboard; "Use" changes what calls take."""
    tab = lab.open(CELLS, height=1000)
    tab.locator(".jp-Cell .cm-content").first.click()
    tab.keyboard.press("Shift+Enter")
    points = tab.locator(".ph-tune .point")
    points.first.wait_for(timeout=60_000)
    some = points.count()
    assert 0 < some < 64
    tab.wait_for_function("document.querySelectorAll('.ph-tune .point').length === 64", timeout=60_000)
    tab.locator(".ph-tune .stop:disabled").wait_for(timeout=60_000)
    assert tab.locator(".ph-tune .point.failed").count() == 4
    assert tab.locator(".ph-tune .point.winner").count() == 1
    assert BEST in tab.locator(".ph-tune .details").inner_text()
    chosen = tab.locator(".ph-tune .point[data-label='K=8 M=128 N=64']")
    chosen.focus()
    tab.keyboard.press("Enter")
    details = tab.locator(".ph-tune .details")
    tab.wait_for_function(
        "document.querySelector('.ph-tune .details').innerText.includes('K=8 M=128 N=64')"
    )
    tab.locator(".ph-tune .use").click()
    tab.locator(".ph-tune .used").wait_for(timeout=30_000)
    assert "Calls use this one now" in details.inner_text()
    tab.locator(".ph-tune select").select_option("M")
    tab.locator(".jp-Cell .cm-content").nth(1).click()
    tab.keyboard.press("Shift+Enter")
    shown = tab.locator(".jp-RenderedText", has_text="calls use")
    shown.wait_for(timeout=60_000)
    assert "calls use {'M': 128, 'N': 64, 'K': 8}" in shown.inner_text()
