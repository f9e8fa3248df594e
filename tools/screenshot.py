"""Photograph a notebook in a real JupyterLab, light and dark: docs/images/NAME-light.png, -dark.png.

    python -m tools.screenshot notebooks/01_gemm.ipynb [--run] [--open "Shared memory"] [--height 1500]

The README's: --run --height 950 --close CUDA --open SASS "Shared memory" Barriers --line 19 --from 1

Needs Debian's chromium.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page

from tools.lab import Lab, run_all, start_lab
from tools.pictures import IMAGES, smaller


def main() -> None:
    """Take the two photographs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--run", action="store_true", help="run all cells first")
    parser.add_argument(
        "--open", nargs="+", default=[], help="panes of the first output to open, by title"
    )
    parser.add_argument("--close", nargs="+", default=[], help="panes of it to close")
    parser.add_argument("--line", type=int, help="the source line to point at, in view in every pane")
    parser.add_argument(
        "--from", type=int, dest="output", help="begin at the output of this kernel, from 1"
    )
    parser.add_argument("--height", type=int, default=1300)
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
    for title in [*arguments.open, *arguments.close]:
        tab.locator(".ph").first.get_by_text(title, exact=True).first.click()
    if arguments.output:
        tab.locator(".ph").nth(arguments.output - 1).evaluate("e => e.scrollIntoView()")
    if arguments.line:
        point_at(tab, arguments.line)
    path = arguments.to / f"{arguments.notebook.stem}-{theme}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    tab.screenshot(path=path)
    smaller(path)
    tab.close()
    print(path)


def point_at(tab: Page, line: int) -> None:
    """Mark what came from a source line of the first output; show most of it in every pane."""
    tab.mouse.move(0, 0)
    tab.locator(f".ph .o{line}").first.evaluate("e => e.focus({ preventScroll: true })")
    for pane in tab.locator(".ph").first.locator("pre:visible").all():
        pane.evaluate(SCROLL, f".o{line}")


SCROLL = """(pane, marked) => {
  const tops = [...pane.querySelectorAll(marked)].map(e => e.offsetTop - pane.offsetTop);
  const inView = top => tops.filter(t => t >= top && t < top + pane.clientHeight).length;
  if (tops.length) pane.scrollTop = tops.reduce((best, t) => inView(t) > inView(best) ? t : best);
}"""
"""Scroll a listing to where most of the marked lines are in view."""


if __name__ == "__main__":
    main()
