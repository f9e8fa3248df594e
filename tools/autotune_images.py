"""Photograph the autotune view with the recorded H200 search in a real JupyterLab, light and dark.

    python -m tools.autotune_images [--to FOLDER] [--width 1280] [--only map]

Writes docs/images/autotune-VIEW-THEME.png. Needs Debian's chromium.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from tools.lab import ROOT, Lab, run_cell, start_lab
from tools.pictures import IMAGES, smaller

CELL = """from pathlib import Path
import phobos_nb as ph
from phobos_nb.tune.live import replay_live
from phobos_nb.tune.records import read
gemm = ph.load(Path({root!r}) / "examples" / "gemm_fp32.ph").gemm
live = replay_live(read(Path({root!r}) / "results" / "tune_seed.json"), pace=0, kernel=gemm)
live.result()
view = live.widget()
view.shown = {shown}
view.picked = {picked!r}
view"""
VIEWS = {
    "by_tile": ({"tab": "points", "x": "TILE_N"}, "TILE_K=4 TILE_M=128 TILE_N=256"),
    "map": ({"tab": "map"}, "TILE_K=16 TILE_M=64 TILE_N=128"),
    "parallel": ({"tab": "parallel"}, "TILE_K=16 TILE_M=64 TILE_N=128"),
    "compare": ({"tab": "map"}, "TILE_K=4 TILE_M=128 TILE_N=128"),
}


def main() -> None:
    """Take the photographs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=IMAGES)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--only", choices=sorted(VIEWS))
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, start_lab(Path(home)) as lab:
        for name in [arguments.only] if arguments.only else VIEWS:
            for theme in ("light", "dark"):
                path = arguments.to / f"autotune-{name}-{theme}.png"
                photograph(lab, name, theme, arguments.width, path)
                print(path, path.stat().st_size)


def photograph(lab: Lab, name: str, theme: str, width: int, path: Path) -> None:
    """One view at its end, the output alone."""
    shown, picked = VIEWS[name]
    cell = CELL.format(root=str(ROOT), shown=json.dumps(shown).replace("true", "True"), picked=picked)
    tab = lab.open([cell], theme=theme, width=width, height=2600 if name == "compare" else 1500)
    run_cell(tab, 0)
    view = tab.locator(".ph-tune")
    tab.locator(".ph-tune .mark.winner").first.wait_for(timeout=60_000)
    if picked and "TILE_M=256 TILE_N=256" not in picked:
        tab.locator(".ph-tune li", has_text="pipelined").first.wait_for(timeout=60_000)
    if name == "compare":
        tab.locator(".ph-tune .compare").click()
        pane = tab.locator(".ph-tune .comparison summary", has_text="Tile MLIR")
        pane.wait_for(timeout=120_000)
        pane.click()
    tab.wait_for_timeout(500)
    view.screenshot(path=path)
    smaller(path)
    tab.close()


if __name__ == "__main__":
    main()
