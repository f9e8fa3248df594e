"""Photograph a notebook in a real JupyterLab, light and dark: docs/images/NAME-light.png, -dark.png.

    python tools/screenshot.py notebooks/01_gemm.ipynb [--run] [--open "Shared memory"] [--height 1500]

Needs Debian's chromium. JupyterLab listens on this machine only and keeps its settings in a
temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"


def settings(folder: Path, theme: str) -> None:
    """The user settings of one photograph."""
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
    """A JupyterLab on a folder; yields its address, stops it at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    places = {f"JUPYTER_{n}_DIR": str(home / n.lower()) for n in ("CONFIG", "DATA", "RUNTIME")}
    places |= {f"JUPYTERLAB_{n}_DIR": str(home / n.lower()) for n in ("SETTINGS", "WORKSPACES")}
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


def main() -> None:
    """Take the two photographs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--run", action="store_true", help="run all cells first")
    parser.add_argument("--open", action="append", default=[], help="panes to open, by title")
    parser.add_argument("--height", type=int, default=1300)
    parser.add_argument("--scroll", type=int, default=0, help="pixels from the top of the notebook")
    parser.add_argument("--to", type=Path, default=IMAGES)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        home = Path(name)
        work = home / "work"
        work.mkdir()
        shutil.copy(arguments.notebook, work)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        settings(home / "settings", "light")
        with jupyterlab(work, home) as address:
            for theme in ("light", "dark"):
                settings(home / "settings", theme)
                photograph(browser.new_page(), address, theme, arguments)
        browser.close()


def photograph(tab: Page, address: str, theme: str, arguments: argparse.Namespace) -> None:
    """Open the notebook without the side bar, prepare it as asked, and save the picture."""
    tab.set_viewport_size({"width": 1280, "height": arguments.height})
    tab.goto(f"{address}/doc/tree/{arguments.notebook.name}?reset")
    tab.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    time.sleep(2)
    if arguments.run:
        run_all(tab)
    for title in arguments.open:
        tab.locator(".ph summary", has_text=title).first.click()
    tab.locator(".jp-WindowedPanel-outer").first.evaluate(f"e => e.scrollTop = {arguments.scroll}")
    path = arguments.to / f"{arguments.notebook.stem}-{theme}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    tab.screenshot(path=path)
    tab.close()
    print(path)


if __name__ == "__main__":
    main()
