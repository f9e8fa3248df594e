"""Kernels of bulk copies, memory barriers and clusters on a GPU: the simulator's bits.

    python -m tests.gpu.async_copies prepare build/async                 # anywhere, with xDSL
    python -m tests.gpu.async_copies run build/async async.json          # on the GPU
    python -m tests.gpu.async_copies race build/async race.json          # there, with compute-sanitizer

`prepare` simulates and compiles every kernel: those of `tests/async_kernels.py`, random ones, and those
of `tests/async_faults.py` with a planted race. `run` launches them and compares all bytes of the
tensors, those between rows included. `race` runs the planted ones, and some without a race, under
racecheck: what it saw beside what the simulator sees.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phobos_nb import target
from phobos_nb.contract import from_plain, to_plain
from phobos_nb.cuda import nvrtc
from tests.async_bytes import digest, simulated
from tests.gpu.async_apart import apart, gpu, several, told_of, watched, write
from tests.gpu.async_launcher import Launcher, Layout

if TYPE_CHECKING:
    from tests.async_text import Kernel

REPEATS = 20
MODULE = "tests.gpu.async_copies"


def prepare(folder: Path) -> None:
    """Simulate and compile every kernel, and store what a GPU needs of it."""
    from tests.async_faults import PLANTED
    from tests.async_kernels import KERNELS
    from tests.async_random import RANDOM

    groups = {"kernel": KERNELS, "random": RANDOM, "planted": PLANTED}
    made = {(group, name): make() for group, some in groups.items() for name, make in some.items()}
    folder.mkdir(parents=True, exist_ok=True)
    index = [
        _save(folder, k, group, name, kernel, image)
        for k, ((group, name), kernel, image) in enumerate(compiled(made))
    ]
    (folder / "index.json").write_text(json.dumps(index) + "\n")


def compiled(
    kernels: Mapping[tuple[str, str], Kernel],
) -> Iterator[tuple[tuple[str, str], Kernel, bytes]]:
    """Kernels, each with an entry named after it, and their machine code for sm_90a."""
    from phobos_nb.cuda.emit import emit
    from tests.async_text import renamed

    chip = target.get("sm_90a")
    named = {key: renamed(kernel, re.sub(r"\W+", "_", key[1])) for key, kernel in kernels.items()}
    jobs = [nvrtc.Job(emit(k.module, chip).text, chip.nvrtc_arch) for k in named.values()]
    for key, made in zip(named, nvrtc.compile_all(jobs, workers=2), strict=True):
        if not isinstance(made, nvrtc.NvrtcResult):
            raise RuntimeError(f"{key}: {made}")
        yield key, named[key], made.cubin


def _save(folder: Path, k: int, group: str, name: str, kernel: Kernel, image: bytes) -> dict[str, Any]:
    """Simulate a kernel and store its code and its tensors' bytes before and after."""
    result, before, after = simulated(kernel)
    races = sorted({str(r.kind) for r in result.races})
    if group != "planted" and (result.faults or races):
        raise RuntimeError(f"{name}: {result.faults} {races}")
    (folder / f"{k}.cubin").write_bytes(image)
    stored = {f"in_{n}": b for n, b in before.items()} | {f"out_{n}": b for n, b in after.items()}
    np.savez(folder / f"{k}.npz", **stored)
    layouts = {n: Layout(a.shape, a.strides, a.itemsize).plain() for n, a in kernel.arguments.items()}
    contract = to_plain(kernel.contract)
    about = {"name": name, "group": group, "races": races}
    return {**about, "contract": contract, "grid": kernel.grid, "layouts": layouts}


def one(folder: Path, k: int, repeats: int) -> dict[str, Any]:
    """Launch one stored kernel some times: how often all bytes were the simulator's."""
    import cupy

    entry = json.loads((folder / "index.json").read_text())[k]
    stored = np.load(folder / f"{k}.npz")
    layouts = {n: Layout(**x) for n, x in entry["layouts"].items()}
    before = {n: stored[f"in_{n}"] for n in layouts}
    wanted = {n: stored[f"out_{n}"] for n in layouts if f"out_{n}" in stored.files}
    arrays = {n: cupy.asarray(a) for n, a in before.items()}
    image = (folder / f"{k}.cubin").read_bytes()
    launcher = Launcher(from_plain(entry["contract"]), tuple(entry["grid"]), layouts, arrays, image)
    same, different, seen = 0, dict[str, list[int]](), set[str]()
    for _ in range(repeats):
        for name, array in arrays.items():
            array.set(before[name])
        launcher.run()
        found = {n: arrays[n].get() for n in wanted}
        wrong = {n: np.flatnonzero(found[n] != wanted[n])[:8].tolist() for n in wanted}
        different |= {n: where for n, where in wrong.items() if where}
        same += not any(wrong.values())
        seen.add(digest(found))
    counts = {"runs": repeats, "same": same, "sha256": sorted(seen)}
    return counts | ({"first_different_bytes": different} if different else {})


def run(folder: Path, output: Path) -> int:
    """Every kernel; the number that differ."""
    started = time.perf_counter()
    index = json.loads((folder / "index.json").read_text())
    chosen = [k for k, entry in enumerate(index) if entry["group"] != "planted"]
    found = apart([MODULE, "some", str(folder)], chosen)
    report: dict[str, Any] = {"gpu": gpu(), "nvrtc": list(nvrtc.version()), "repeats": REPEATS}
    for group in ("kernel", "random"):
        report[group] = {index[k]["name"]: found[k] for k in chosen if index[k]["group"] == group}
    wrong = [
        index[k]["name"] for k in chosen if found[k]["same"] != found[k]["runs"] or not found[k]["runs"]
    ]
    write(output, report | {"wrong": wrong, "seconds": round(time.perf_counter() - started, 1)})
    return len(wrong)


BESIDE = ("plain copies", "ring", "multicast", "exchange", "named barriers", "load 2d f16 128B")
"""Kernels without a race that racecheck is shown too."""


def race(folder: Path, output: Path) -> int:
    """Planted races and clean kernels under compute-sanitizer's racecheck; its text beside `output`."""
    index = json.loads((folder / "index.json").read_text())
    chosen = [k for k, e in enumerate(index) if e["group"] == "planted" or e["name"] in BESIDE]
    ended, text = watched([MODULE, "once", str(folder)], chosen)
    output.with_suffix(".txt").write_text(text)
    found = {
        index[k]["name"]: {
            "simulator": index[k]["races"],
            "process": ended[k],
            "racecheck": told_of(text, index[k]["contract"]["entry"]),
        }
        for k in chosen
    }
    write(output, found)
    return 0


def main(arguments: list[str]) -> int:
    """One of the commands above."""
    match arguments:
        case ["prepare", folder]:
            prepare(Path(folder))
        case ["run", folder, output]:
            return run(Path(folder), Path(output))
        case ["race", folder, output]:
            return race(Path(folder), Path(output))
        case ["some" | "once" as how, folder, *numbers]:
            repeats = REPEATS if how == "some" else 1
            several([int(k) for k in numbers], lambda k: one(Path(folder), k, repeats))
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
