"""`%%phobos` in a real JupyterLab in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.magic.shell import SCALE
from tools.lab import Lab, run_all

pytestmark = [pytest.mark.browser, pytest.mark.nvrtc, pytest.mark.slow]

CELLS = [
    "%load_ext phobos_nb",
    f"%%phobos --chip sm_75\n{SCALE}",
    f"\n\n%%phobos --chip sm_75\n{SCALE.replace('* s', '* nowhere')}",
]


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Page:
    """The three cells in JupyterLab, all run."""
    tab = lab.open(CELLS, theme="dark")
    run_all(tab)
    return tab


def test_the_page_of_a_cell_keeps_its_layout(notebook: Page) -> None:
    """JupyterLab's own rules for html do not disturb it: source and CUDA stand side by side."""
    figures = notebook.locator(".ph figure:visible")
    assert figures.count() == 2
    source, cuda = figures.nth(0).bounding_box(), figures.nth(1).bounding_box()
    assert source is not None
    assert cuda is not None
    assert source["y"] == cuda["y"]
    assert cuda["x"] > source["x"] + source["width"]


def test_the_page_takes_the_colours_of_the_theme(notebook: Page) -> None:
    """In the dark theme the page is dark, whatever the system prefers."""
    background = notebook.locator(".ph").evaluate("e => getComputedStyle(e).backgroundColor")
    assert all(int(c) < 60 for c in background[4:-1].split(","))


def test_the_error_has_the_gutters_line(notebook: Page) -> None:
    """Two blank lines above the magic: body line 3 is line 6 in the gutter."""
    shown = notebook.locator(
        ".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']"
    ).inner_text()
    assert "`nowhere` is not declared" in shown
    assert "cell:6:31" in shown
    assert "Traceback" not in shown
