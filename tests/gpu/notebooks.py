"""Notebooks on a GPU, in a real Jupyter kernel: the tutorials, and a search driven through its widget.

usage: python -m tests.gpu.notebooks OUT [--size N] [--cpu] [--skip-tutorials]

Writes OUT/search.ipynb, OUT/sliders.ipynb and the tutorials with their outputs and the state of their
widgets (JupyterLab shows them without a kernel), and OUT/notebooks.json: what was seen. Messages are
those that the browser's buttons send: stop, resume, pick, use, compare, export. Needs nbclient and
ipykernel. With --cpu the arrays are NumPy's: a trial of the script.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat

from tests.gpu.circumstances import circumstances
from tests.gpu.live_kernel import Client, LiveKernel, widget_of

ROOT = Path(__file__).parents[2]
UNTIMED = "<dt>time</dt><dd>-"
TUTORIALS = ("01_gemm", "02_sliders_and_roofline")

ARRAYS = """\
import ARRAYS as xp

import phobos_nb as ph

%load_ext phobos_nb
rng = xp.random.default_rng(0)
A, B, C = (rng.standard_normal((SIZE, SIZE), dtype="f4") for _ in range(3))
alpha, beta = 1.0, 0.5
before = C.copy()
"""
CHECK = """\
assert (C == before).all()
gemm(A, B, C, alpha, beta)
wanted = A.astype("f8") @ B.astype("f8") + 0.5 * before.astype("f8")
print("worst", float(abs(C - wanted).max() / abs(wanted).max()))
extents = dict.fromkeys("MNK", SIZE)
print("calls take", gemm.constants_for(extents, ph.target.get("sm_90a")))
C[...] = before
"""
REFERENCE = """\
def reference(v):
    a, b, c = (v[name].astype("f8") for name in "ABC")
    return {"C": v["alpha"] * (a @ b) + v["beta"] * c}
"""
LIVE = """\
live = ph.autotune_live(gemm, A, B, C, alpha, beta, AGAINST reference=reference)
live
"""


def kernel_cell(options: str) -> str:
    """The kernel's text as a cell."""
    return f"%%phobos {options}\n" + (ROOT / "examples" / "gemm_fp32.ph").read_text("utf-8")


def filled(text: str, size: int, cpu: bool) -> str:
    """A cell for these arrays."""
    against = "" if cpu else 'against="cublas",'
    found = text.replace("ARRAYS", "numpy" if cpu else "cupy").replace("SIZE", str(size))
    return found.replace("AGAINST", against)


def search(out: Path, size: int, cpu: bool) -> dict[str, Any]:
    """A search stopped, resumed, picked from and put to use through messages of its widget."""
    with LiveKernel(out / "search.ipynb") as kernel:
        begun = time.perf_counter()
        kernel.run(filled(ARRAYS, size, cpu))
        kernel.run(kernel_cell("--quiet"))
        kernel.run(REFERENCE)
        shown = widget_of(kernel.run(filled(LIVE, size, cpu)))
        found = drive(kernel, shown)
        kernel.run("t = live.result()\nt")
        kernel.run("t.plot()")
        kernel.run("t.frame.head(8)")
        found["says"] = printed(kernel.run(filled(CHECK, size, cpu)))
        found["seconds"] = round(time.perf_counter() - begun, 1)
        found["arrivals"] = [
            [round(c.at, 2), len(c.state["view"].get("points", ()))]
            for c in kernel.seen.changes
            if c.comm == shown and "view" in c.state
        ]
    return found


def drive(kernel: LiveKernel, shown: str) -> dict[str, Any]:
    """The widget's buttons, in the order a person would press them."""
    found: dict[str, Any] = {}

    def measured(state: dict[str, Any]) -> list[dict[str, Any]]:
        return [p for p in state["view"]["points"] if p["ms"] is not None]

    kernel.wait(shown, lambda s: len(measured(s)) >= 3, "three points")
    kernel.press(shown, do="stop")
    kernel.wait(shown, lambda s: s["progress"]["can_resume"], "the stop")
    found["points at the stop"] = len(measured(kernel.state(shown)))
    kernel.press(shown, do="resume")
    kernel.wait(shown, lambda s: s["progress"]["running"], "the resumption")
    found["resumed for"] = kernel.wait(shown, lambda s: not s["progress"]["running"], "the end")
    state = kernel.state(shown)
    points = sorted(measured(state), key=lambda p: p["ms"])
    found["points"], found["headline"] = len(state["view"]["points"]), state["view"]["headline"]
    second = points[1]["label"]
    kernel.set(shown, picked=second)
    found["notes after"] = kernel.wait(shown, lambda s: second in s["notes"], "the notes")
    kernel.press(shown, do="use", label=second)
    kernel.wait(shown, lambda s: s["used"] == second, "the use")
    found["used"] = kernel.state(shown)["used"]
    kernel.press(shown, do="compare", labels=[points[0]["label"], second])
    kernel.wait(shown, lambda s: bool(s["comparison"].get("panes")), "the comparison")
    found["panes"] = [pane["title"] for pane in kernel.state(shown)["comparison"]["panes"]]
    kernel.press(shown, do="export", kind="record", label="")
    kernel.wait(shown, lambda s: s["message"].startswith("written"), "the export")
    found["message"] = kernel.state(shown)["message"].rsplit("/", 1)[-1]
    return found


def sliders(out: Path, size: int, cpu: bool) -> dict[str, Any]:
    """`%%phobos --interact` over arrays on the GPU, moved and put to use by messages."""
    with LiveKernel(out / "sliders.ipynb") as kernel:
        begun = time.perf_counter()
        kernel.run(filled(ARRAYS, size, cpu))
        shown = widget_of(kernel.run(kernel_cell("--interact")))
        found = {"first": settled(kernel, shown, cpu)}
        names = [s["name"] for s in kernel.state(shown)["view"]["sliders"]]
        kernel.press(shown, do="move", places={n: 32 for n in names if n in ("TILE_M", "TILE_N")})
        kernel.wait(shown, lambda s: "TILE_M=32" in s["view"]["label"], "the move")
        found["second"] = settled(kernel, shown, cpu)
        kernel.press(shown, do="use")
        kernel.wait(shown, lambda s: bool(s["view"]["used"]), "the use")
        found["says"] = printed(kernel.run(filled(CHECK, size, cpu)))
        kernel.run("r = gemm.roofline(A, B, C, alpha, beta)\nr")
        kernel.run("r.plot()")
        found["seconds"] = round(time.perf_counter() - begun, 1)
    return found


def settled(kernel: LiveKernel, shown: str, cpu: bool) -> list[str]:
    """Once it is compiled, counted and, on a GPU, timed under measured roofs: its time, its bound."""

    def ready(state: dict[str, Any]) -> bool:
        view, parts = state["view"], state["parts"]
        if view["state"] != "ready" or view["stale"] or "Roofline:" not in parts["roofline"]:
            return False
        return cpu or (UNTIMED not in parts["facts"] and "measured roofs" in parts["roofline"])

    kernel.wait(shown, ready, "a settled view")
    parts = kernel.state(shown)["parts"]
    return [plain(parts["facts"].split("</div>")[0]), plain(parts["roofline"].split("</ul>")[0])]


def plain(html: str) -> str:
    """The text of html."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).strip()


def printed(cell: Any) -> list[str]:
    """The lines that a cell printed."""
    return [line for o in cell.outputs if o.output_type == "stream" for line in o.text.splitlines()]


def tutorial(name: str, out: Path) -> dict[str, Any]:
    """A notebook of the checkout as "Run All" executes it, without its recorded outputs."""
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", 4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    begun = time.perf_counter()
    Client(notebook, resources={"metadata": {"path": str(ROOT / "notebooks")}}).execute()
    nbformat.write(notebook, out / f"{name}.ipynb")
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {
        "cells": len(cells),
        "seconds": round(time.perf_counter() - begun, 1),
        "last": printed(cells[-1]),
    }


def main() -> int:
    """All of them; the exit code is how many failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--skip-tutorials", action="store_true")
    parsed = parser.parse_args()
    parsed.out.mkdir(parents=True, exist_ok=True)
    os.environ["PHOBOS_CACHE_DIR"] = tempfile.mkdtemp()  # nothing of an earlier search is used
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), *sys.path]))
    jobs: dict[str, Any] = {
        "search": lambda: search(parsed.out, parsed.size, parsed.cpu),
        "sliders": lambda: sliders(parsed.out, parsed.size, parsed.cpu),
    }
    if not parsed.skip_tutorials:
        jobs |= {name: lambda name=name: tutorial(name, parsed.out) for name in TUTORIALS}
    found: dict[str, Any] = {"circumstances": {} if parsed.cpu else circumstances()}
    failed = 0
    for name, job in jobs.items():
        try:
            found[name] = job()
        except Exception as error:  # the others are tried all the same
            found[name] = {"failed": f"{type(error).__name__}: {error}"[-3000:]}
            failed += 1
        print(name, json.dumps(found[name])[:1500], flush=True)
        (parsed.out / "notebooks.json").write_text(json.dumps(found, indent=1) + "\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
