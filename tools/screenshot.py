"""Photograph a notebook in a real JupyterLab, light and dark: docs/images/NAME-light.png, -dark.png.

    python -m tools.screenshot notebooks/01_gemm.ipynb [--run] [--open "Shared memory"] [--height 1500]

Needs Debian's chromium.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from tools.lab import ROOT, Lab, run_all, start_lab

IMAGES = ROOT / "docs" / "images"


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
    with tempfile.TemporaryDirectory() as name, start_lab(Path(name)) as lab:
        shutil.copy(arguments.notebook, Path(name) / "work")
        for theme in ("light", "dark"):
            photograph(lab, theme, arguments)


def photograph(lab: Lab, theme: str, arguments: argparse.Namespace) -> None:
    """Open the notebook, prepare it as asked, and save the picture."""
    tab = lab.open_file(arguments.notebook.name, theme=theme, width=1280, height=arguments.height)
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
