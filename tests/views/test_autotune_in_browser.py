"""The script and the static page in Chromium, without JupyterLab: how fast they open, what fits."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import phobos_nb as ph
from phobos_nb.tune.replay import open_record
from phobos_nb.views.autotune import view_of
from phobos_nb.views.autotune_html import page
from phobos_nb.views.autotune_widget import AutotuneWidget, script

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
TRAITS = ("view", "shown", "picked", "held", "used", "progress", "notes", "comparison", "message")
MODEL = """
window.modelOf = (state) => {
  const heard = {};
  return {
    get: (name) => state[name], heard,
    set: (name, value) => { state[name] = value; (heard[`change:${name}`] ?? []).forEach((f) => f()); },
    save_changes: () => {}, send: () => {},
    on: (name, f) => (heard[name] ??= []).push(f),
    off: (name, f) => { heard[name] = heard[name].filter((g) => g !== f); },
  };
};
"""
"""What anywidget hands to a script: traits and their changes."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])


@pytest.fixture(scope="module")
def widget() -> AutotuneWidget:
    """The recorded H200 search with its kernel."""
    kernel = ph.load(ROOT / "examples" / "gemm_fp32.ph").gemm
    return AutotuneWidget(open_record(ROOT / "results" / "tune_seed.json"), kernel)


@pytest.fixture
def tab(browser: Browser, widget: AutotuneWidget) -> Iterator[Page]:
    """A page with the script loaded, two places and a state for each."""
    tab = browser.new_page(viewport={"width": 1000, "height": 1000})
    code = script().replace("export default", "window.view =")
    tab.set_content(
        f"<!doctype html><meta charset=utf-8><style>{widget._css}</style>"
        f"<div class='a'></div><div class='b'></div><script>{MODEL}{code}</script>"
    )
    state = {name: getattr(widget, name) for name in TRAITS} | {"can_use": True}
    tab.evaluate("(state) => { window.state = state; }", state)
    yield tab
    tab.close()


OPEN = """(place) => {
  const model = modelOf(structuredClone(state));
  const begun = performance.now();
  const end = view.render({ model, el: document.querySelector(place) });
  document.querySelector(place).getBoundingClientRect();
  (window.open_ ??= {})[place] = { model, end };
  return performance.now() - begun;
}"""


@pytest.mark.parametrize("name", ["points", "map", "parallel"])
def test_a_view_opens_in_200_ms(tab: Page, name: str) -> None:
    """64 configurations of a real search, from the model to a laid-out page; the best of three."""
    tab.evaluate("(name) => { state.shown = { tab: name }; }", name)
    times = []
    for _ in range(3):
        tab.evaluate("document.querySelector('.a').replaceChildren()")
        times.append(tab.evaluate(OPEN, ".a"))
    assert tab.locator(".mark[data-label]").count() == 64
    assert min(times) < 200


@pytest.mark.parametrize("name", ["points", "map", "parallel"])
def test_a_space_of_one_parameter_is_shown(tab: Page, name: str) -> None:
    """Its map is one row; every configuration is there in each view."""
    tab.evaluate(
        "(name) => { const v = state.view; v.axes = { TILE: [1, 2, 4] }; state.shown = { tab: name };"
        " v.points = v.points.slice(0, 3).map((p, i) => ({ ...p, label: `TILE=${2 ** i}`,"
        " constants: { TILE: 2 ** i } })); }",
        name,
    )
    tab.evaluate(OPEN, ".a")
    assert tab.locator(".a .mark[data-label]").count() == 3
    tab.locator(".a .chart svg").focus()
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function("document.querySelector('.a h4 .label').innerText !== 'TILE=1'")


def test_every_recorded_search_opens_in_every_view(tab: Page) -> None:
    """The shipped records: no parameter or four, one configuration or 64, with or without rates."""
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    for path in sorted((ROOT / "results" / "records").glob("*.json")):
        shown = AutotuneWidget(open_record(path))
        tab.evaluate("(view) => { state.view = view; state.picked = ''; }", shown.view)
        for name in ("points", "map", "parallel"):
            tab.evaluate("(name) => { state.shown = { tab: name }; }", name)
            tab.evaluate("document.querySelector('.a').replaceChildren()")
            tab.evaluate(OPEN, ".a")
            assert "nan" not in tab.locator(".a").inner_text().lower().split(), (path.name, name)
            assert tab.locator(".a svg [d*=NaN], .a svg [x=NaN], .a svg [cy=NaN]").count() == 0, path
        shown.close()
    assert errors == []


def test_a_thousand_configurations_are_drawn_in_a_second(tab: Page) -> None:
    """Sixteen times the recorded points; the page stays usable while such a search runs."""
    tab.evaluate(
        "const v = state.view, base = v.points; v.axes = { ...v.axes, COPY: [...Array(16).keys()] };"
        " v.points = v.axes.COPY.flatMap((i) => base.map((p) => ({ ...p,"
        " status: i && p.ms ? 'ok' : p.status,"
        " label: `COPY=${i} ${p.label}`, constants: { ...p.constants, COPY: i } })))"
    )
    took = tab.evaluate(OPEN, ".a")
    assert tab.locator(".a .mark[data-label]").count() == 1024
    assert took < 1000


def test_two_views_do_not_disturb_each_other(tab: Page) -> None:
    """Each has its own picks, and ids that are its own."""
    for place in (".a", ".b"):
        tab.evaluate(OPEN, place)
    tab.locator(".a svg[tabindex]").focus()
    for _ in range(3):
        tab.keyboard.press("ArrowRight")
    tab.wait_for_function("document.querySelector('.a h4 .label').innerText.includes('TILE_N=128')")
    assert "TILE_K=8 TILE_M=128 TILE_N=256" in tab.locator(".b h4").inner_text()
    ids = tab.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids)) == 128


def test_a_view_that_ends_leaves_nothing_behind(tab: Page) -> None:
    """No listener stays at the model: what the notebook calls when a cell is run again."""
    tab.evaluate(OPEN, ".a")
    heard = "Object.values(open_['.a'].model.heard).flat().length"
    assert tab.evaluate(heard) > 0
    tab.evaluate("open_['.a'].end()")
    assert tab.evaluate(heard) == 0


def test_nothing_of_a_record_becomes_markup(tab: Page) -> None:
    """A reason with tags in it is shown as it is."""
    tab.evaluate("state.view.points[63].reason = '<img src=x onerror=window.bad=1>'")
    tab.evaluate("state.picked = state.view.points[63].label")
    tab.evaluate(OPEN, ".a")
    assert "<img src=x" in tab.locator(".a .details").inner_text()
    assert tab.evaluate("window.bad") is None


@pytest.mark.parametrize("width", [600, 1000])
@pytest.mark.parametrize("name", ["points", "map", "parallel"])
def test_no_words_run_out_of_a_picture_or_into_each_other(tab: Page, name: str, width: int) -> None:
    """Titles and captions are inside the chart and apart, on a narrow page too."""
    tab.set_viewport_size({"width": width, "height": 1000})
    tab.evaluate("(name) => { state.shown = { tab: name }; }", name)
    tab.evaluate(OPEN, ".a")
    boxes = tab.evaluate(
        "[...document.querySelectorAll('.a .chart text.title, .a .chart text.caption')]"
        ".map((t) => [t.textContent, t.getBoundingClientRect().toJSON()])"
    )
    frame = tab.locator(".a .chart svg").bounding_box()
    assert frame is not None
    assert boxes
    for text, box in boxes:
        assert frame["x"] <= box["left"], text
        assert box["right"] <= frame["x"] + frame["width"] + 1, text
    for i, (one, a) in enumerate(boxes):
        for other, b in boxes[i + 1 :]:
            apart = (
                a["right"] <= b["left"] + 1
                or b["right"] <= a["left"] + 1
                or a["bottom"] <= b["top"] + 2
                or b["bottom"] <= a["top"] + 2
            )
            assert apart, (one, other)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_static_page_fits_a_narrow_window(browser: Browser, scheme: str) -> None:
    """600 px: pictures shrink, nothing but the closed tables is wider than the page."""
    kernel = ph.load(ROOT / "examples" / "gemm_fp32.ph").gemm
    shown = view_of(open_record(ROOT / "results" / "tune_seed.json"), kernel)
    tab = browser.new_page(
        viewport={"width": 600, "height": 900}, color_scheme=scheme, java_script_enabled=False
    )
    tab.set_content(f"<!doctype html><meta charset=utf-8>{page(shown)}")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 600
    assert tab.locator("svg:visible").count() == 1
    tab.locator("summary", has_text="Parallel").click()
    assert tab.locator("svg:visible").count() == 2
    tab.close()


def test_first_looks_are_open_italic_and_dashed(tab: Page) -> None:
    """52 of 60 measured ones have no rounds: open circles, italic cells, dashed lines, in the legend."""
    tab.evaluate("window.view.render({ model: modelOf(state), el: document.querySelector('.a') })")
    look = "document.querySelectorAll('.a .mark.look[data-label]')"
    count = f"{look}.length"
    assert tab.evaluate(count) == 52
    fill = tab.evaluate(f"getComputedStyle({look}[0]).fill")
    solid = tab.evaluate("getComputedStyle(document.querySelector('.a .point.ok')).fill")
    assert fill != solid
    assert "a first look only; finals took 1.00x" in tab.locator(".a .legend").inner_text()
    tab.locator(".a [data-tab=map]").click()
    tab.locator(".a .cell").first.wait_for()
    assert tab.evaluate(count) == 52
    assert tab.evaluate("getComputedStyle(document.querySelector('.a .cell.look text')).fontStyle") == (
        "italic"
    )
    tab.locator(".a [data-tab=parallel]").click()
    tab.locator(".a .line").first.wait_for()
    dashes = "getComputedStyle(document.querySelector('.a .line.look .thin')).strokeDasharray"
    assert tab.evaluate(dashes) not in ("", "none")


def test_a_first_look_is_compared_with_the_winners_first_look(tab: Page) -> None:
    """Its difference in the panel is of first looks, and the heading says so."""
    tab.evaluate("window.view.render({ model: modelOf(state), el: document.querySelector('.a') })")
    tab.locator(".a [data-label='TILE_K=16 TILE_M=128 TILE_N=64']").first.click()
    panel = tab.locator(".a .details")
    panel.locator("th", has_text="first looks").wait_for()
    found = open_record(ROOT / "results" / "tune_seed.json")
    outcomes = found.record.outcomes
    ratio = outcomes["TILE_K=16 TILE_M=128 TILE_N=64"].first / found.winner.first - 1
    assert f"+{100 * ratio:.2f} %" in panel.inner_text()
