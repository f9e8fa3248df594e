"""Profiles of real calls: a GEMM, a softmax, a transpose, as html and as Nsight Compute's source page.

    python -m tests.gpu.profiles run OUT         # on the GPU, with xDSL, ncu and nvdisasm
    python -m tests.gpu.profiles draw OUT        # anywhere: html again, from what `run` kept

Per call `run` keeps NAME.pickle (the profile), NAME.html and NAME.csv (ncu's page with source lines).
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb.compilation.profile import Profile
from phobos_nb.cuda.ncu import find_ncu
from phobos_nb.views.profile import text, view_of
from phobos_nb.views.profile_html import page
from tests.examples_cases import CASES
from tests.gpu.circumstances import circumstances

CALLS: Mapping[str, tuple[Mapping[str, int], Mapping[str, int]]] = {
    "gemm_fp32": ({"TILE_M": 128, "TILE_N": 128, "TILE_K": 8}, {"M": 512, "N": 512, "K": 256}),
    "softmax": ({}, {"M": 66, "N": 4001}),
    "transpose": ({}, {"M": 300, "N": 517}),
}
"""Case -> constants and extents."""


def profiled(name: str, out: Path) -> Profile:
    """One call under ncu and simulated; its report stays in OUT."""
    import cupy

    constants, extents = CALLS[name]
    case = CASES[name]
    kernel = case.load().specialize(**constants)
    arrays = case.arrays(extents, np.random.default_rng(3))
    arguments = [cupy.asarray(v) if isinstance(v, np.ndarray) else v for v in arrays.values()]
    return kernel.profile(*arguments, report=out / name)


def run(out: Path) -> None:
    """Profile every call."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "made.json").write_text(json.dumps(circumstances()), "utf-8")
    for name in CALLS:
        profile = profiled(name, out)
        shown: list[Any] = [find_ncu(), "--import", profile.report, "--page", "source", "--csv"]
        shown += ["--print-source", "cuda,sass"]
        page = subprocess.run(shown, capture_output=True, text=True, check=False)
        (out / f"{name}.csv").write_text(page.stdout + page.stderr, "utf-8")
        kept = replace(profile, report=Path(f"{name}.ncu-rep"))
        (out / f"{name}.pickle").write_bytes(pickle.dumps(kept))
    draw(out)


def draw(out: Path) -> None:
    """Write the html of every kept profile, and print it as text."""
    for name in CALLS:
        view = view_of(pickle.loads((out / f"{name}.pickle").read_bytes()))
        made = (out / "made.json").read_text("utf-8")
        (out / f"{name}.html").write_text(f"<!-- {made} -->\n{page(view)}", "utf-8")
        print(text(view), flush=True)


if __name__ == "__main__":
    {"run": run, "draw": draw}[sys.argv[1]](Path(sys.argv[2]))
