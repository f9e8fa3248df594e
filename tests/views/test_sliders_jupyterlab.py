"""Sliders in a real JupyterLab in Chromium: moved by keyboard, refused, used, exported, tuned from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tools.lab import Lab, run_all, run_cell

pytestmark = [pytest.mark.browser, pytest.mark.nvrtc, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
START = f"import sys; sys.path.insert(0, {str(ROOT)!r})\nimport phobos_nb as ph\n"
CELLS = [
    f"{START}gemm = ph.load({str(ROOT / 'examples' / 'gemm_fp32.ph')!r}, chip='sm_90a').gemm\n"
    "view = gemm.interact(M=256, N=256, K=24)\n"
    "view",
    "from phobos_nb.target import get\n"
    "print('calls use', gemm.constants_for({'M': 256, 'N': 256, 'K': 24}, get('sm_90a')))",
]
TWICE = """%%phobos --interact --quiet --chip sm_80
@autotune(T in [256, 512])
kernel twice(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x
  Y[i * T :+ T] = X[i * T :+ T] * 2.0
}"""
STATUS = "document.querySelector('.ph-sliders .status').innerText"


def says(tab: Page, *words: str) -> None:
    """Wait until the status line has these words."""
    tests = " && ".join(f"{STATUS}.includes({word!r})" for word in words)
    tab.wait_for_function(tests, timeout=90_000)


@pytest.fixture(scope="module")
def tab(lab: Lab) -> Page:
    """The notebook with its first cell run and the first configuration counted."""
    found = lab.open(CELLS)
    run_cell(found, 0)
    found.locator(".ph-sliders .roofline svg").wait_for(timeout=90_000)
    return found


def figure(tab: Page, name: str) -> str:
    return tab.locator(".ph-sliders .facts dl > div", has_text=name).first.inner_text()


def test_a_slider_moved_by_keyboard_changes_the_header_and_use_the_kernel(tab: Page) -> None:
    """Right arrow: the status compiles, figures and ruler are new, Use sets what calls take."""
    before = figure(tab, "shared memory"), tab.locator(".ph-sliders .memory svg").inner_html()
    tab.locator(".ph-sliders input[data-name='TILE_M']").focus()
    tab.keyboard.press("ArrowRight")
    says(tab, "TILE_M=64", "is compiled")
    after = figure(tab, "shared memory"), tab.locator(".ph-sliders .memory svg").inner_html()
    assert before[0] != after[0]
    assert before[1] != after[1]
    assert "was" in after[0]
    tab.locator(".ph-sliders .use").click()
    says(tab, "Calls use it")
    run_cell(tab, 1)
    shown = tab.locator(".jp-RenderedText", has_text="calls use")
    shown.wait_for(timeout=60_000)
    assert "'TILE_M': 64, 'TILE_N': 32, 'TILE_K': 8" in shown.inner_text()


def test_a_place_that_cannot_work_is_greyed_and_reached_by_keyboard(tab: Page) -> None:
    """At its end TILE_N refuses 256 beside TILE_M=256; the reason stands there, Use is off."""
    for name in ("TILE_M", "TILE_N"):
        tab.locator(f".ph-sliders input[data-name='{name}']").focus()
        tab.keyboard.press("End")
    says(tab, "cannot work", "the sums of dot, 256 x 256 f32")
    assert tab.locator(".ph-sliders .use").is_disabled()
    range_ = tab.locator(".ph-sliders input[data-name='TILE_N']")
    assert "cannot work: the sums of dot" in (range_.get_attribute("aria-valuetext") or "")
    assert tab.locator(".ph-sliders .tick.refused[aria-disabled=true]").count() >= 2
    assert tab.locator(".ph-sliders .shown.stale").count() == 1
    range_.focus()
    tab.keyboard.press("ArrowLeft")
    says(tab, "TILE_N=128", "is compiled")


def test_a_tick_is_clicked_and_the_configuration_exported(tab: Page) -> None:
    """A click on a value moves there; Export shows Python and JSON; back to the start."""
    tab.locator(".ph-sliders .tick", has_text=re.compile(r"^\s*4\s*$")).first.click()
    says(tab, "TILE_K=4 ")
    tab.locator(".ph-sliders .export").click()
    area = tab.locator(".ph-sliders textarea")
    area.wait_for(timeout=30_000)
    assert "specialize(TILE_K=4" in area.input_value()
    assert '"target": "sm_90a"' in area.input_value()
    link = tab.locator(".ph-sliders .download").get_attribute("href") or ""
    assert link.startswith("data:application/json")
    tab.locator(".ph-sliders .reset").click()
    says(tab, "TILE_K=8 TILE_M=32 TILE_N=32")


def test_the_magic_shows_sliders_and_a_search_begins_beneath_them(lab: Lab) -> None:
    """`%%phobos --interact` takes the notebook's arrays; "Tune from here" shows the search's view."""
    arrays = "import numpy as np\nX = np.ones(4096, np.float32)\nY = np.zeros_like(X)\n"
    tab = lab.open([f"{START}{arrays}%load_ext phobos_nb", TWICE])
    run_all(tab)
    tab.locator(".ph-sliders .roofline svg").wait_for(timeout=90_000)
    assert "X 4096, Y 4096" in tab.locator(".ph-sliders .sig").first.inner_text()
    tab.locator(".ph-sliders .tune").click()
    tab.locator(".ph-sliders .search .ph-tune").wait_for(timeout=60_000)
    tab.wait_for_function(
        "document.querySelectorAll('.ph-sliders .search .mark[data-label]').length === 2",
        timeout=90_000,
    )
