"""The recorded 64-configuration search of an H200, replayed in a real JupyterLab in Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tools.lab import Lab, run_cell

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
BEST = "TILE_K=8 TILE_M=128 TILE_N=256"
CELLS = [
    "from pathlib import Path\n"
    "import phobos_nb as ph\n"
    "from phobos_nb.tune.live import replay_live\n"
    "from phobos_nb.tune.records import read\n"
    f"root = Path({str(ROOT)!r})\n"
    "gemm = ph.load(root / 'examples' / 'gemm_fp32.ph').gemm\n"
    "live = replay_live(read(root / 'results' / 'tune_seed.json'), pace=PACE, kernel=gemm)\n"
    "live",
    "live.result(60)\n"
    "from phobos_nb.target import get\n"
    "extents = {'M': 4096, 'N': 4096, 'K': 4096}\n"
    "print('calls use', gemm.constants_for(extents, get('sm_90a')))",
]
COUNT = "document.querySelectorAll('.ph-tune .mark[data-label]').length"
WINNERS = "document.querySelectorAll('.ph-tune .mark.winner[data-label]').length"
FAILED = "document.querySelectorAll('.ph-tune .mark.failed[data-label]').length"


def opened(lab: Lab, pace: float, **options: object) -> Page:
    """The notebook with its first cell begun."""
    tab = lab.open([cell.replace("PACE", str(pace)) for cell in CELLS], **options)
    run_cell(tab, 0)
    tab.locator(".ph-tune .mark").first.wait_for(timeout=60_000)
    return tab


def finished(tab: Page) -> None:
    tab.wait_for_function(f"{COUNT} === 64", timeout=60_000)
    tab.locator(".ph-tune .stop").wait_for(state="hidden", timeout=60_000)


@pytest.fixture(scope="module")
def done(lab: Lab) -> Page:
    """The search at its end; tests leave picks behind, and pick what they need themselves."""
    tab = opened(lab, 0.01)
    finished(tab)
    return tab


def test_points_appear_one_is_picked_by_keyboard_and_put_to_use(lab: Lab) -> None:
    """Points come while it runs; arrow keys pick; "Use" changes what calls of the kernel take."""
    tab = opened(lab, 0.08)
    assert 0 < tab.evaluate(COUNT) < 64
    tab.locator(".ph-tune .note", has_text=" left").wait_for(timeout=30_000)
    finished(tab)
    tab.wait_for_function(f"{FAILED} === 4", timeout=30_000)
    tab.wait_for_function(f"{WINNERS} === 1", timeout=30_000)
    assert "recorded on NVIDIA H200, 2026-11-29" in tab.locator(".ph-tune .sig").inner_text()
    tab.locator(".ph-tune .details", has_text=BEST).wait_for(timeout=30_000)
    tab.locator(".ph-tune .chart svg").focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")
    tab.locator(".ph-tune .label", has_text="TILE_K=4 TILE_M=128 TILE_N=256").wait_for()
    tab.locator(".ph-tune .details", has_text="+0.8").wait_for()  # per cent of time to the winner
    tab.locator(".ph-tune .details li", has_text="pipelined in").wait_for(timeout=60_000)
    tab.locator(".ph-tune .use").focus()
    tab.keyboard.press("Enter")
    tab.locator(".ph-tune h4", has_text="calls use this one now").wait_for(timeout=30_000)
    run_cell(tab, 1)
    shown = tab.locator(".jp-RenderedText", has_text="calls use {")
    shown.wait_for(timeout=60_000)
    assert "{'TILE_M': 128, 'TILE_N': 256, 'TILE_K': 4}" in shown.inner_text()


def test_a_stopped_search_keeps_its_best_and_goes_on(lab: Lab) -> None:
    """Stop: the points stand still, the best so far is marked. Resume: the rest comes."""
    tab = opened(lab, 0.15)
    tab.locator(".ph-tune .stop").click()
    resume = tab.locator(".ph-tune .resume")
    resume.wait_for(timeout=30_000)
    kept = tab.evaluate(COUNT)
    assert 0 < kept < 64
    tab.wait_for_function(f"{WINNERS} === 1", timeout=30_000)
    tab.locator(".ph-tune .note", has_text="stopped: interrupted").wait_for(timeout=30_000)
    resume.click()
    tab.locator(".ph-tune .stop").wait_for(timeout=30_000)
    assert tab.evaluate(COUNT) >= kept
    finished(tab)


def test_the_map_has_a_cell_for_every_configuration(done: Page) -> None:
    """Four maps of 4 x 4, the winner's cell with a star, failures in place; arrows go to neighbours."""
    done.locator(".ph-tune [data-tab=map]").click()
    done.locator(".ph-tune .cell").first.wait_for()
    assert done.locator(".ph-tune .cell").count() == 64
    assert "\u2605 52.8" in done.locator(".ph-tune .cell.winner").text_content()
    assert done.locator(".ph-tune .cell.failed", has_text="\u2715").count() == 4
    assert done.locator(".ph-tune .caption").all_text_contents() == [
        f"TILE_K = {k}" for k in (4, 8, 16, 32)
    ]
    done.locator(".ph-tune .cell.winner").click()
    done.keyboard.press("ArrowLeft")
    done.wait_for_function(
        "document.querySelector('.ph-tune .picked').dataset.label === 'TILE_K=8 TILE_M=128 TILE_N=128'"
    )
    done.keyboard.press("ArrowDown")
    done.wait_for_function(
        "document.querySelector('.ph-tune .picked').dataset.label === 'TILE_K=8 TILE_M=256 TILE_N=128'"
    )


def test_parallel_coordinates_have_a_line_for_every_configuration(done: Page) -> None:
    """An axis for each parameter, each resource that varies, and the measure."""
    done.locator(".ph-tune [data-tab=parallel]").click()
    done.locator(".ph-tune .line").first.wait_for()
    assert done.locator(".ph-tune .line").count() == 64
    titles = done.locator(".ph-tune .chart .title").all_text_contents()
    assert titles == [
        *(
            "TILE_M",
            "TILE_N",
            "TILE_K",
            "registers",
            "spills",
            "shared",
            "CTAs/SM",
            "occupancy",
            "stages",
        ),
        "TFLOP/s",
    ]
    assert "threads per CTA 256" in done.locator(".ph-tune .chart .small").last.text_content()


def test_tabs_and_choices_work_by_keyboard(done: Page) -> None:
    """Arrow keys turn the tabs; the measure and the horizontal axis are plain selects."""
    done.locator(".ph-tune [data-tab=parallel]").click()
    done.keyboard.press("ArrowRight")
    done.locator(".ph-tune [data-tab=points][aria-selected=true]").wait_for()
    done.locator(".ph-tune [data-choice=y]").select_option("time")
    done.locator(".ph-tune [data-choice=x]").select_option("registers")
    done.locator(".ph-tune .chart .title", has_text="registers per thread").wait_for()
    texts = done.locator(".ph-tune .chart text").all_text_contents()
    assert any(t.startswith("cublasSgemm 2.7") for t in texts)
    assert any("cublas TF32 (other precision)" in t and "off this scale" in t for t in texts)
    done.locator(".ph-tune [data-choice=y]").select_option("throughput")
    done.locator(".ph-tune [data-choice=x]").select_option("rank")
    done.locator(".ph-tune .chart .peak").wait_for(state="attached")


def test_two_configurations_are_compared(done: Page) -> None:
    """The picked one against one that is held: a table of what differs, then the code's difference."""
    done.locator(".ph-tune [data-tab=map]").click()
    done.locator(".ph-tune .cell[data-label='TILE_K=4 TILE_M=32 TILE_N=32']").click()
    done.locator(".ph-tune .hold").click()
    done.locator(".ph-tune .cell[data-label='TILE_K=8 TILE_M=32 TILE_N=32']").click()
    done.locator(".ph-tune .compare", has_text="held").click()
    table = done.locator(".ph-tune .comparison table")
    table.wait_for()
    assert "\u2260 TILE_K" in table.inner_text()
    assert "\u2260 TILE_M" not in table.inner_text()
    pane = done.locator(".ph-tune .comparison summary", has_text="Tile MLIR")
    pane.wait_for(timeout=120_000)
    pane.click()
    assert done.locator(".ph-tune .comparison .gone").count() > 0
    done.locator(".ph-tune .close").click()
    done.locator(".ph-tune .comparison").wait_for(state="hidden")


def test_running_the_cell_again_leaves_one_view(lab: Lab) -> None:
    """Two more runs: one view in the page, one widget in the kernel, no search of before at work."""
    tab = opened(lab, 0.05)
    for _ in range(2):
        run_cell(tab, 0)
        tab.wait_for_timeout(1500)
    finished(tab)
    assert tab.locator(".ph-tune").count() == 1
    tab.locator(".jp-Cell .cm-content").nth(1).fill(
        "import threading\nfrom ipywidgets import Widget\n"
        "alive = [w for w in Widget.widgets.values() if type(w).__name__ == 'AutotuneWidget']\n"
        "searches = [t for t in threading.enumerate() if t.name == 'phobos search']\n"
        "print('alive', len(alive), 'searches', len(searches))"
    )
    run_cell(tab, 1)
    shown = tab.locator(".jp-RenderedText", has_text="alive 1 searches 0")
    shown.wait_for(timeout=30_000)
