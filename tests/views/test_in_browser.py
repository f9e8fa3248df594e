"""The static page in a real browser: panes, links between lines, keyboard, both colour schemes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from phobos_nb.views.html import page
from tests.views.models import VIEW

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])


@pytest.fixture(params=["light", "dark"])
def shown(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Two identical outputs in one document, as when a cell is repeated, with scripts turned off."""
    tab = browser.new_page(
        viewport={"width": 1200, "height": 900}, color_scheme=request.param, java_script_enabled=False
    )
    tab.set_content(f"<!doctype html>{page(VIEW)}{page(VIEW)}")
    yield tab
    tab.close()


def color(tab: Page, selector: str, index: int, name: str) -> str:
    """A computed style, read from outside the page's own scripting."""
    return tab.locator(selector).nth(index).evaluate(f"e => getComputedStyle(e)['{name}']")


def test_panes_open_side_by_side_and_only_in_their_own_output(shown: Page) -> None:
    """A second pane stands beside the first; the other output does not move."""
    first = shown.locator(".ph").nth(0)
    figures = shown.locator("figure:visible")
    assert figures.count() == 2
    first.locator("summary", has_text="Thread MLIR").click()
    assert figures.count() == 3
    left, right = (first.locator("figure:visible").nth(i).bounding_box() for i in range(2))
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]
    assert right["x"] >= left["x"] + left["width"]


def test_pointing_at_a_line_marks_the_lines_that_came_from_it(shown: Page) -> None:
    """Source line 4 and its MLIR line are marked together, in this output only."""
    shown.locator("summary", has_text="Thread MLIR").first.click()
    marked = ".o4"
    assert shown.locator(marked).count() == 4
    shown.locator(marked).first.hover()
    backgrounds = [color(shown, marked, i, "backgroundColor") for i in range(4)]
    assert backgrounds[0] == backgrounds[1] != backgrounds[2] == backgrounds[3]


def test_the_keyboard_reaches_panes_and_lines(shown: Page) -> None:
    """Tab moves to a pane's button, Enter toggles it."""
    shown.locator("summary").first.focus()
    shown.keyboard.press("Enter")
    assert shown.locator(".ph").nth(0).locator("figure:visible").count() == 0
    shown.keyboard.press("Enter")
    assert shown.locator(".ph").nth(0).locator("figure:visible").count() == 1


def test_text_stands_out_from_its_background(shown: Page) -> None:
    """Every colour of the listing has a contrast of at least 4.5 to 1 with its panel."""
    panel = color(shown, "figure", 0, "backgroundColor")
    for selector in (
        "pre .l",
        ".sig b",
        "pre .l b",
        "pre .t",
        "pre .n",
        "pre .f",
        "pre i",
        "figcaption",
    ):
        ink = color(shown, selector, 0, "color")
        assert contrast(ink, panel) >= 4.5, (selector, ink, panel)


def contrast(first: str, second: str) -> float:
    """The WCAG contrast ratio of two `rgb(r, g, b)` colours."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def luminance(color: str) -> float:
    channels = [int(c) / 255 for c in color[color.index("(") + 1 : -1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
