"""Kernels of bulk copies, memory barriers and clusters on a GPU: the simulator's bits.

    python -m tests.gpu.async_copies prepare build/async                 # anywhere, with xDSL
    python -m tests.gpu.async_copies run build/async async.json          # on the GPU
    python -m tests.gpu.async_copies race build/async race.json          # there, with compute-sanitizer

`prepare` simulates and compiles every kernel. `run` launches them in several processes, since a fault of
one ends its process, and compares outputs. `race` runs kernels with planted races, and some without,
under racecheck: what it saw beside what the simulator sees.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np

from phobos_nb import target
from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.contract import LaunchContract, from_plain, to_plain
from phobos_nb.cuda import nvrtc
from phobos_nb.cuda.launch import Parameters, starter
from phobos_nb.cuda.loading import load_kernel

REPEATS = 20
PROCESSES = 4
SECONDS, SECONDS_OF_ONE, HUNG = 60, 20, 124
"""For one process and for one kernel, its process' start included; the exit status of what took longer.
More processes at once wait for each other: 31 contexts took over 24 s on an H200."""
WORKER = (sys.executable, "-m", "tests.gpu.async_copies")


def prepare(folder: Path) -> None:
    """Simulate and compile every kernel, and store what a GPU needs of it."""
    from phobos_nb.cuda.emit import emit
    from tests.async_faults import PLANTED
    from tests.async_kernels import KERNELS, PROBES
    from tests.async_text import renamed

    folder.mkdir(parents=True, exist_ok=True)
    makers = {**KERNELS, **PROBES, **PLANTED}
    kernels = {name: renamed(make(), re.sub(r"\W+", "_", name)) for name, make in makers.items()}
    chip = target.get("sm_90a")
    jobs = [nvrtc.Job(emit(k.module, chip).text, chip.nvrtc_arch) for k in kernels.values()]
    index: list[dict[str, Any]] = []
    for k, (name, made) in enumerate(zip(kernels, nvrtc.compile_all(jobs, workers=2), strict=True)):
        if not isinstance(made, nvrtc.NvrtcResult):
            raise RuntimeError(f"{name}: {made}")
        kernel = kernels[name]
        result = kernel.run(banks=False)
        (folder / f"{k}.cubin").write_bytes(made.cubin)
        arrays = {f"in_{n}": a for n, a in kernel.arguments.items()}
        arrays |= {f"out_{n}": a for n, a in result.outputs.items()}
        np.savez_compressed(folder / f"{k}.npz", **arrays)
        index.append(
            {
                "name": name,
                "group": _group(name, KERNELS, PLANTED),
                "contract": to_plain(kernel.contract),
                "grid": kernel.grid,
                "races": sorted({str(r.kind) for r in result.races}),
            }
        )
    (folder / "index.json").write_text(json.dumps(index) + "\n")


def _group(name: str, kernels: Mapping[str, Any], planted: Mapping[str, Any]) -> str:
    if name in planted:
        return "planted"
    return "kernel" if name in kernels else "probe"


class Launcher:
    """One loaded kernel with its arrays on the GPU."""

    def __init__(
        self,
        contract: LaunchContract,
        grid: tuple[int, int, int],
        arguments: Mapping[str, Any],
        image: bytes,
    ) -> None:
        import cupy

        self.contract, self.arguments = contract, arguments
        self.arrays: dict[str, Any] = {n: cupy.asarray(a) for n, a in arguments.items()}
        described = {
            n: ArrayDescription(str(a.dtype), a.shape, a.strides, int(a.data.ptr), a.dtype.itemsize)
            for n, a in self.arrays.items()
        }
        parameters = Parameters(contract)
        parameters.write_layout({}, described)
        parameters.write_addresses(*(int(self.arrays[t.name].data.ptr) for t in contract.tensors))
        self.start = starter(load_kernel(image, contract), contract, grid, parameters)

    def run(self) -> dict[str, np.ndarray]:
        """The outputs of one launch over fresh arguments."""
        import cupy

        for name, array in self.arguments.items():
            self.arrays[name].set(array)
        self.start(0)
        cupy.cuda.runtime.deviceSynchronize()
        return {t.name: self.arrays[t.name].get() for t in self.contract.tensors if t.writes}


def one(folder: Path, k: int, repeats: int) -> dict[str, Any]:
    """Launch one stored kernel some times: how often the bits were the simulator's."""
    entry = json.loads((folder / "index.json").read_text())[k]
    stored = np.load(folder / f"{k}.npz")
    arguments = {n[3:]: stored[n] for n in stored.files if n.startswith("in_")}
    wanted = {n[4:]: stored[n] for n in stored.files if n.startswith("out_")}
    image = (folder / f"{k}.cubin").read_bytes()
    launcher = Launcher(from_plain(entry["contract"]), tuple(entry["grid"]), arguments, image)
    same, different = 0, dict[str, list[int]]()
    for _ in range(repeats):
        found = launcher.run()
        bad = [n for n in found if found[n].tobytes() != wanted[n].tobytes()]
        same += not bad
        for name in bad:
            a, b = (x.reshape(-1).view(np.uint8) for x in (found[name], wanted[name]))
            different[name] = np.flatnonzero(a != b)[:8].tolist()
    if different and entry["group"] == "probe":
        return {"runs": repeats, "same": same, "bytes": {n: found[n].tobytes().hex() for n in different}}
    return {"runs": repeats, "same": same, **({"first_different_bytes": different} if different else {})}


def several(folder: Path, numbers: list[int], repeats: int) -> None:
    """Launch stored kernels one after the other, a line for each; one that does not end, ends all."""
    for k in numbers:
        watch = Timer(SECONDS_OF_ONE, os._exit, (HUNG,))
        watch.daemon = True
        watch.start()
        print(json.dumps(one(folder, k, repeats)), flush=True)
        watch.cancel()


def _process(command: list[str]) -> tuple[int, str]:
    """Exit status and output, also of a process that had to be stopped."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        return HUNG, b"".join(x for x in (late.stdout, late.stderr) if isinstance(x, bytes)).decode()
    return done.returncode, done.stdout + done.stderr


def _apart(folder: Path, numbers: list[int]) -> dict[int, dict[str, Any]]:
    """Some kernels in a process of their own; after one that faults or hangs the others get another."""
    found: dict[int, dict[str, Any]] = {}
    while numbers:
        code, text = _process([*WORKER, "some", str(folder), *map(str, numbers)])
        lines = text.strip().splitlines()
        made = [json.loads(x) for x in lines if x.startswith("{")]
        found |= dict(zip(numbers, made, strict=False))
        if len(made) < len(numbers):
            told = [x for x in lines if not x.startswith("{")] or [f"ended with {code}"]
            error = f"no end within {SECONDS_OF_ONE} s" if code == HUNG else told[-1]
            found[numbers[len(made)]] = {"runs": 0, "same": 0, "error": error}
        numbers = numbers[len(made) + 1 :]
    return found


def run(folder: Path, output: Path) -> int:
    """Every kernel; the number that differ."""
    started = time.perf_counter()
    index = json.loads((folder / "index.json").read_text())
    chosen = [k for k, entry in enumerate(index) if entry["group"] != "planted"]
    with ThreadPoolExecutor(PROCESSES) as pool:
        parts = [chosen[first::PROCESSES] for first in range(PROCESSES)]
        found = {k: f for some in pool.map(lambda p: _apart(folder, p), parts) for k, f in some.items()}
    report: dict[str, Any] = {"gpu": gpu(), "nvrtc": list(nvrtc.version()), "repeats": REPEATS}
    for group in ("kernel", "probe"):
        report[f"{group}s"] = {index[k]["name"]: found[k] for k in chosen if index[k]["group"] == group}
    wrong = [n for n, f in report["kernels"].items() if f["same"] != f["runs"] or not f["runs"]]
    report |= {"wrong": wrong, "seconds": round(time.perf_counter() - started, 1)}
    output.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report))
    return len(wrong)


def gpu() -> str:
    """The GPU's name."""
    import cupy

    return cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()


# Beside racecheck --------------------------------------------------------------------------------

BESIDE = ("plain copies", "ring", "multicast", "exchange", "named barriers", "load 2d f16 128B")
"""Kernels without a race that the tool is shown too."""


def race(folder: Path, output: Path) -> int:
    """Planted races and clean kernels under compute-sanitizer's racecheck; its text beside `output`."""
    index = json.loads((folder / "index.json").read_text())
    chosen = [k for k, e in enumerate(index) if e["group"] == "planted" or e["name"] in BESIDE]
    with ThreadPoolExecutor(PROCESSES) as pool:
        parts = [chosen[first::PROCESSES] for first in range(PROCESSES)]
        seen = list(pool.map(lambda p: _watched(folder, p), parts))
    text = "".join(t for _, t in seen)
    output.with_suffix(".txt").write_text(text)
    ended = {k: code for part, (code, _) in zip(parts, seen, strict=True) for k in part}
    found = {
        index[k]["name"]: {
            "simulator": index[k]["races"],
            "process": ended[k],
            "racecheck": _told(text, index[k]["contract"]["entry"]),
        }
        for k in chosen
    }
    output.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found))
    return 0


def _watched(folder: Path, numbers: list[int]) -> tuple[int, str]:
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    command = [tool, "--tool", "racecheck", "--racecheck-report", "analysis", "--print-limit", "500"]
    return _process([*command, *WORKER, "once", str(folder), *map(str, numbers)])


def _told(text: str, entry: str) -> list[str]:
    """What the tool says of one kernel, whose entry has a name of its own."""
    lines = [x.removeprefix("=========").strip() for x in text.splitlines() if x.startswith("=====")]
    return [x for x in lines if re.search(rf"\b{entry}\b", x)][:6]


def main(arguments: list[str]) -> int:
    """One of the commands above."""
    match arguments:
        case ["prepare", folder]:
            prepare(Path(folder))
            return 0
        case ["run", folder, output]:
            return run(Path(folder), Path(output))
        case ["race", folder, output]:
            return race(Path(folder), Path(output))
        case ["some", folder, *numbers]:
            several(Path(folder), [int(k) for k in numbers], REPEATS)
            return 0
        case ["once", folder, *numbers]:
            several(Path(folder), [int(k) for k in numbers], 1)
            return 0
        case _:
            print(__doc__)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
