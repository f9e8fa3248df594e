"""A measured time beside its peers, as the sliders show it: nothing of an interval is cut in two."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import phobos_nb as ph
from phobos_nb.views.roofline_arguments import call_values
from phobos_nb.views.sliders import SlidersView, Timing, text, time_parts
from phobos_nb.views.sliders_html import page
from phobos_nb.views.sliders_session import Sliders

TIMED = Timing(0.3338, 0.3335, 0.3342, {"cublasSgemm": 0.348, "cublas TF32 (other precision)": 0.0561})
SCALE = """
@autotune(TILE in [256, 512])
kernel scale(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x
  Y[i * TILE :+ TILE] = 2.0 * X[i * TILE :+ TILE]
}
"""


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> SlidersView:
    """The view of sliders with the time of a GPU."""
    monkeypatch.setattr("phobos_nb.cuda.driver.native_chip", lambda: None)
    (scale,) = ph.compile(SCALE, chip="sm_90a")
    kernel, values, made = call_values(scale, (), {"N": 1024})
    sliders = Sliders(kernel, values, made=made)
    view = sliders.wait(60.0)
    sliders.close()
    return replace(view, timing=TIMED)


def test_the_interval_stays_with_the_time():
    """Two parts: the time with both ends of its interval; every peer with its factor."""
    time, peers = time_parts(TIMED)
    assert time == "334 us [334 us, 334 us]"
    assert peers == (
        "1.043 times as fast as cublasSgemm (348 us), "
        "0.168 times as fast as cublas TF32 (other precision) (56.1 us)"
    )
    assert time_parts(Timing(missing="measuring ...")) == ("", "measuring ...")


@pytest.mark.nvrtc
def test_html_and_text_show_the_same_time(shown: SlidersView):
    """The fact's value is the time and its interval, the remark in parentheses the peers."""
    fact = re.search(r"<dt>time</dt><dd>(.*?)</dd>", page(shown))
    assert fact
    value, small = fact[1].split(" <small>")
    assert value == "334 us [334 us, 334 us]"
    assert small.startswith("(1.043 times as fast as cublasSgemm")
    assert "time: 334 us [334 us, 334 us], 1.043 times" in text(shown)
