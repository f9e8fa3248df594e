"""`%%phobos` in a real JupyterLab in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, sync_playwright

from tests.magic.shell import SCALE
from tools.screenshot import jupyterlab, run_all, settings

pytestmark = [pytest.mark.browser, pytest.mark.nvrtc, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
CELLS = [
    f"import sys; sys.path.insert(0, {str(ROOT)!r})\n%load_ext phobos_nb",
    f"%%phobos --chip sm_75\n{SCALE}",
    f"\n\n%%phobos --chip sm_75\n{SCALE.replace('* s', '* nowhere')}",
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The three cells in JupyterLab, all run."""
    home = tmp_path_factory.mktemp("lab")
    work = home / "work"
    work.mkdir()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(notebook, work / "cells.ipynb")
    settings(home / "settings", "dark")
    with sync_playwright() as playwright, jupyterlab(work, home) as address:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1280, "height": 1400})
        tab.goto(f"{address}/doc/tree/cells.ipynb?reset")
        tab.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        run_all(tab)
        yield tab
        browser.close()


def test_the_page_of_a_cell_keeps_its_layout(lab: Page) -> None:
    """JupyterLab's own rules for html do not disturb it: source and CUDA stand side by side."""
    figures = lab.locator(".ph figure:visible")
    assert figures.count() == 2
    source, cuda = figures.nth(0).bounding_box(), figures.nth(1).bounding_box()
    assert source is not None
    assert cuda is not None
    assert source["y"] == cuda["y"]
    assert cuda["x"] > source["x"] + source["width"]


def test_the_page_takes_the_colours_of_the_theme(lab: Page) -> None:
    """In the dark theme the page is dark, whatever the system prefers."""
    background = lab.locator(".ph").evaluate("e => getComputedStyle(e).backgroundColor")
    assert all(int(c) < 60 for c in background[4:-1].split(","))


def test_the_error_has_the_gutters_line(lab: Page) -> None:
    """Two blank lines above the magic: body line 3 is line 6 in the gutter."""
    shown = lab.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']").inner_text()
    assert "`nowhere` is not declared" in shown
    assert "cell:6:31" in shown
    assert "Traceback" not in shown
