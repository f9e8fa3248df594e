"""A real JupyterLab in a real browser: notebooks made of cells, opened in a theme and a size.

JupyterLab listens on this machine only and keeps its settings below a folder that the caller gives.
Needs Debian's chromium.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import nbformat
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


class Lab:
    """A JupyterLab and a browser. Each `open` is a tab of its own."""

    def __init__(self, address: str, browser: Browser, home: Path) -> None:
        self._address, self._browser, self._home = address, browser, home
        self._opened = 0

    def open(
        self, cells: Sequence[str], *, theme: str = "light", width: int = 1280, height: int = 1400
    ) -> Page:
        """A new notebook of code cells, not run, its kernel idle."""
        self._opened += 1
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        notebook.metadata["kernelspec"] = KERNEL
        name = f"notebook{self._opened}.ipynb"
        nbformat.write(notebook, self._home / "work" / name)
        return self.open_file(name, theme=theme, width=width, height=height)

    def open_file(self, name: str, *, theme: str, width: int, height: int) -> Page:
        """A notebook of the folder `work` in the home folder."""
        settings(self._home / "settings", theme)
        tab = self._browser.new_page(viewport={"width": width, "height": height})
        tab.goto(f"{self._address}/doc/tree/{name}?reset")
        tab.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        tab.get_by_text("| Idle").wait_for(timeout=60_000)
        return tab


@contextmanager
def start_lab(home: Path) -> Iterator[Lab]:
    """A JupyterLab and a browser with everything they keep below `home`; both end with the context."""
    (home / "work").mkdir()
    settings(home / "settings", "light")
    with sync_playwright() as playwright, jupyterlab(home / "work", home) as address:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield Lab(address, browser, home)
        browser.close()


def settings(folder: Path, theme: str) -> None:
    """The user settings of pages opened from now on."""
    files = {
        "apputils-extension/themes": {"theme": f"JupyterLab {theme.title()}"},
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
        "notebook-extension/tracker": {"windowingMode": "none"},
    }
    for name, content in files.items():
        path = folder / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))


@contextmanager
def jupyterlab(folder: Path, home: Path) -> Iterator[str]:
    """A JupyterLab on a folder, its kernels with this checkout; yields its address, then stops it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    places = {f"JUPYTER_{n}_DIR": str(home / n.lower()) for n in ("CONFIG", "DATA", "RUNTIME")}
    places |= {f"JUPYTERLAB_{n}_DIR": str(home / n.lower()) for n in ("SETTINGS", "WORKSPACES")}
    places["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    options = ["--no-browser", "--allow-root", "--IdentityProvider.token=", f"--ServerApp.port={port}"]
    command = [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={folder}"]
    log = (home / "log").open("w")
    server = subprocess.Popen(
        command, env={**os.environ, **places}, stdout=log, stderr=subprocess.STDOUT
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(f"{address}/api")
        yield address
    finally:
        server.terminate()
        server.wait()
        log.close()


def _wait(address: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(address).read()
            return
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.3)


DONE = """() => {
  const prompts = [...document.querySelectorAll(".jp-CodeCell .jp-InputPrompt")].map(p => p.innerText);
  return /\\[\\d+\\]/.test(prompts[0]) && !prompts.some(p => p.includes("*"));
}"""
"""Whether the first cell has run and none is waiting."""


def run_all(tab: Page) -> None:
    """Run every cell, once the kernel is there, and wait for the last."""
    tab.get_by_text("| Idle").wait_for(timeout=60_000)
    tab.get_by_role("menuitem", name="Run", exact=True).click()
    tab.get_by_text("Run All Cells", exact=True).click()
    time.sleep(1)
    tab.wait_for_function(DONE, timeout=120_000)


def run_cell(tab: Page, index: int) -> None:
    """Run one cell by its number, without waiting for its end."""
    tab.locator(".jp-Cell .cm-content").nth(index).click()
    tab.keyboard.press("Control+Enter")
