"""Photograph sliders over a GEMM in a real JupyterLab, light and dark.

    python -m tools.sliders_images [--to FOLDER] [--width 1180]

Writes docs/images/sliders-THEME.png. Needs Debian's chromium.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tools.lab import ROOT, Lab, run_cell, start_lab
from tools.pictures import IMAGES, smaller

CELL = """from pathlib import Path
import phobos_nb as ph
gemm = ph.load(Path({root!r}) / "examples" / "gemm_fp32.ph", chip="sm_90a").gemm
gemm.interact(M=4096, N=4096, K=384)"""
MOVES = ({"TILE_M": "64", "TILE_N": "64"}, {"TILE_M": "128", "TILE_K": "16"})
SHOWN = """words => {
  const status = document.querySelector(".ph-sliders .status").innerText;
  const roofline = document.querySelector(".ph-sliders .shown:not(.stale) .roofline");
  return roofline?.querySelector("svg") && ["compiled", ...words].every(word => status.includes(word));
}"""
"""Whether what is shown is of the configuration with these values."""


def main() -> None:
    """Take the two photographs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=IMAGES)
    parser.add_argument("--width", type=int, default=1180)
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, start_lab(Path(home)) as lab:
        for theme in ("light", "dark"):
            path = arguments.to / f"sliders-{theme}.png"
            photograph(lab, theme, arguments.width, path)
            print(path, path.stat().st_size)


def photograph(lab: Lab, theme: str, width: int, path: Path) -> None:
    """The view after two moves, the output alone."""
    tab = lab.open([CELL.format(root=str(ROOT))], theme=theme, width=width, height=1500)
    run_cell(tab, 0)
    tab.locator(".ph-sliders .roofline svg").wait_for(timeout=120_000)
    for move in MOVES:
        for name, value in move.items():
            places = tab.locator(f".ph-sliders .track:has([data-name={name}])")
            places.get_by_role("button", name=value, exact=True).click()
        tab.wait_for_function(SHOWN, arg=[f"{n}={v}" for n, v in move.items()], timeout=120_000)
    tab.mouse.move(0, 0)
    tab.wait_for_timeout(500)
    view = tab.locator(".ph-sliders")
    view.evaluate("e => e.style.padding = '10px'")
    view.screenshot(path=path)
    smaller(path)
    tab.close()


if __name__ == "__main__":
    main()
