"""Measured roofs, and kernels under them with measured times and DRAM bytes beside the model's; JSON.

usage: python -m tests.gpu.roofline RESULTS.json
       python -m tests.gpu.roofline --figure RESULTS.json PICTURE.png

Needs a GPU, and xDSL to compile; Nsight Compute's ncu for the DRAM bytes, counted with cold caches.
Then sliders over a GEMM on the GPU: moved twice, timed beside cuBLAS, put to use.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import phobos_nb as ph
from phobos_nb.compilation.configuration import resolve
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.cuda.driver import cupy, current_device
from phobos_nb.cuda.identity import device_name
from phobos_nb.cuda.ncu import find_ncu
from phobos_nb.diagnostics import PhobosError
from phobos_nb.target.cards import card_of
from phobos_nb.views.roofline_of import Roofline
from phobos_nb.views.roofline_probe import measured_roofs
from phobos_nb.views.roofline_roofs import nominal
from phobos_nb.views.sliders import text
from phobos_nb.views.sliders_session import Sliders
from tests.gpu.circumstances import circumstances

EXAMPLES = Path(__file__).parents[2] / "examples"
DRAM = ("dram__bytes_read.sum", "dram__bytes_write.sum")


def calls() -> dict[str, tuple[Kernel, tuple[Any, ...]]]:
    """Three kernels with arguments on the GPU; the arrays of the first two are larger than the L2."""
    module = cupy()
    random = module.random.default_rng(0)

    def array(*shape: int) -> Any:
        return random.standard_normal(shape, dtype="f4")

    def load(name: str) -> Kernel:
        return next(iter(ph.load(EXAMPLES / f"{name}.ph")))

    side = 4096
    return {
        "saxpy": (load("saxpy_fp32"), (array(1 << 26), array(1 << 26), 2.0)),
        "softmax": (load("softmax"), (array(16384, 4096), array(16384, 4096))),
        "gemm": (load("gemm_fp32"), (*(array(side, side) for _ in range(3)), 1.0, 0.5)),
    }


def dram_bytes() -> dict[str, int]:
    """What ncu counts for one call of each; empty without ncu or the permission to read counters."""
    try:
        tool = find_ncu()
    except PhobosError as error:
        print(error)
        return {}
    command = [str(tool), "--csv", "--metrics", ",".join(DRAM), "-k", "regex:saxpy|softmax|gemm"]
    child = [sys.executable, "-m", "tests.gpu.roofline", "--once"]
    done = subprocess.run([*command, *child], capture_output=True, text=True, check=False)
    found: dict[str, int] = {}
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    for row in csv.DictReader(lines):
        if row.get("Metric Name") in DRAM:
            scale = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}[row["Metric Unit"]]
            name = next(n for n in ("saxpy", "softmax", "gemm") if n in row["Kernel Name"])
            value = float(row["Metric Value"].replace(",", ""))
            found[name] = found.get(name, 0) + round(scale * value)
    if not found:
        print(done.stdout[-2000:], done.stderr[-2000:])
    return found


def slid(kernel: Kernel, arguments: tuple[Any, ...]) -> dict[str, Any]:
    """Sliders on the GPU: the first configuration, two moves, one that cannot work, one put to use."""
    named = dict(zip((p.name for p in kernel.parameters), arguments, strict=True))
    sliders = Sliders(kernel, named)
    seen: list[dict[str, Any]] = []
    for move in ({}, {"TILE_M": 64}, {"TILE_M": 256, "TILE_N": 256}, {"TILE_M": 128, "TILE_N": 128}):
        started = time.perf_counter()
        if move:
            sliders.move(move)
        view = sliders.wait(120)
        seconds = time.perf_counter() - started
        print(f"--- {seconds:.1f} s\n{text(view)}")
        plain = view.to_plain()
        seen.append(
            {n: plain[n] for n in ("label", "state", "message", "timing")} | {"seconds": seconds}
        )
    used = sliders.use()
    kernel(*arguments)
    target, device = resolve(kernel.options).target, device_name(current_device())
    taken = kernel.constants_for(sliders.extents, target, device)
    sliders.close()
    assert {n: taken[n] for n in used} == used
    return {"moves": seen, "used": used}


def main(results: Path) -> None:
    """Measure, compare, write."""
    started = time.perf_counter()
    made = calls()
    target = resolve(made["gemm"][0].options).target
    roofs = measured_roofs(target)
    card = card_of(target, roofs.device)
    promised = None if card is None else nominal(target, card).to_plain()
    print(f"roofs after {time.perf_counter() - started:.1f} s: {roofs}")
    counted = dram_bytes()
    print(f"ncu after {time.perf_counter() - started:.1f} s: {counted}")
    found: dict[str, Any] = {}
    for name, (kernel, arguments) in made.items():
        shown = kernel.roofline(*arguments)
        print(shown.text)
        found[name] = {**shown.model["points"][0], "ncu_dram_bytes": counted.get(name)}
    print(f"points after {time.perf_counter() - started:.1f} s")
    sliders = slid(*made["gemm"])
    data = {
        **circumstances() | {"command": "python -m tests.gpu.roofline"},
        "measured": roofs.to_plain(),
        "nominal": promised,
        "points": found,
        "sliders": sliders,
    }
    results.write_text(json.dumps(data, indent=1) + "\n")
    print(f"done after {time.perf_counter() - started:.1f} s")


def figure(results: Path, picture: Path) -> None:
    """The points of a results file as a picture; needs no GPU."""
    data = json.loads(results.read_text())
    points = [
        {n: v for n, v in p.items() if n != "ncu_dram_bytes"} | {"label": name}
        for name, p in data["points"].items()
    ]
    title = f"f32 kernels on an {data['measured']['device']}, {data['date']}"
    shown = Roofline.from_model({"title": title, "roofs": data["measured"], "points": points})
    shown.plot().savefig(picture, dpi=100)


if __name__ == "__main__":
    if sys.argv[1] == "--figure":
        figure(Path(sys.argv[2]), Path(sys.argv[3]))
    elif sys.argv[1] == "--once":
        for kernel, arguments in calls().values():
            kernel(*arguments)
        cupy().cuda.Device().synchronize()
    else:
        main(Path(sys.argv[1]))
