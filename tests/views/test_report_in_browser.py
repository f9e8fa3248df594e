"""The page that `make demo` writes, in a real browser under both colour schemes."""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat import v4
from playwright.sync_api import Page, sync_playwright

from phobos_nb.views.html import page
from phobos_nb.views.svg import ruler
from tests.views.models import MEMORY, VIEW

pytestmark = pytest.mark.browser
DEMO = Path(__file__).parents[2] / "tools" / "demo.py"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A notebook of a text, and a cell whose outputs are a print, a view and a picture."""
    spec = importlib.util.spec_from_file_location("demo", DEMO)
    assert spec is not None
    assert spec.loader is not None
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    outputs = [
        v4.new_output("stream", text="right: True"),
        v4.new_output("display_data", {"text/html": page(VIEW)}),
        v4.new_output("display_data", {"image/svg+xml": ruler(MEMORY)}),
    ]
    cell = v4.new_code_cell("import numpy", outputs=outputs)
    notebook: nbformat.NotebookNode = v4.new_notebook(cells=[v4.new_markdown_cell("# A product"), cell])
    path = tmp_path_factory.mktemp("report") / "report.html"
    demo.write(notebook, path)
    return path


@pytest.fixture(params=["light", "dark"])
def shown(report: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Page, bool]]:
    """The page, and whether the system is dark."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(color_scheme=request.param)
        tab.goto(report.as_uri())
        yield tab, request.param == "dark"
        browser.close()


def luminance(color: str) -> float:
    """Relative luminance of a computed `rgb(...)`: WCAG 2, definition."""
    parts = [int(x) / 255 for x in re.findall(r"\d+", color)[:3]]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, WCAG 2."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


INK = {
    "heading": ("h1", "color"),
    "code": (".jp-InputArea pre span.nn", "color"),
    "print": (".jp-OutputArea-output pre", "color"),
    "view": (".ph figure pre", "color"),
    "facts": (".ph dt", "color"),
}


def test_the_page_follows_the_systems_colour_scheme(shown: tuple[Page, bool]) -> None:
    """The ground is dark where the system is, and all that is written on it can be read (4.5 to 1)."""
    tab, dark = shown
    ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (luminance(ground) < 0.1) is dark
    for name, (selector, what) in INK.items():
        ink = tab.locator(selector).first.evaluate(f"e => getComputedStyle(e)['{what}']")
        assert contrast(ink, ground) > 4.5, (name, ink, ground)


def test_a_picture_follows_it_too(shown: tuple[Page, bool]) -> None:
    """The ruler is an image of its own, whose ground and writing are dark on light or light on dark."""
    tab, dark = shown
    image = tab.locator(".jp-RenderedSVG img").get_attribute("src")
    assert image is not None
    tab.goto(image)
    ground = tab.locator("svg > rect").first.evaluate("e => getComputedStyle(e).fill")
    assert (luminance(ground) < 0.1) is dark
    for text in tab.locator("svg text").all():
        assert contrast(text.evaluate("e => getComputedStyle(e).fill"), ground) > 4.5
