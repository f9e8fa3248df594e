"""Whether a missing synchronisation of bulk copies shows on a GPU.

    python -m tests.gpu.async_visibility prepare build/visibility              # anywhere, with xDSL
    python -m tests.gpu.async_visibility run build/visibility visibility.json  # on the GPU
    python -m tests.gpu.async_visibility race build/visibility race.json       # with compute-sanitizer

`prepare` simulates the experiments of `tests/async_visibility.py` on a few CTAs and compiles them.
`run` launches each with and without its synchronisation and counts the wrong words that it saw itself.
A race that no launch showed is a race all the same: what orders the accesses there is luck.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from phobos_nb.contract import from_plain, to_plain
from tests.gpu.async_apart import apart, gpu, several, told_of, watched, write
from tests.gpu.async_launcher import Launcher, Layout

MODULE = "tests.gpu.async_visibility"
REPEATS, CTAS, WORDS = 20, 528, 1 << 24
"""Launches of each; their CTAs, 4 for every multiprocessor of an H200; words that go through memory."""
FEW = {"ctas": 4, "rounds": 3}
"""What is simulated, and run under racecheck."""


def prepare(folder: Path) -> None:
    """Simulate every experiment, whole and cut, and compile it for few and for many CTAs."""
    from tests.async_text import Kernel
    from tests.async_visibility import EXPERIMENTS
    from tests.gpu.async_copies import compiled

    folder.mkdir(parents=True, exist_ok=True)
    kernels: dict[tuple[str, str], Kernel] = {}
    about: list[dict[str, Any]] = []
    for name, x in EXPERIMENTS.items():
        many = {"ctas": CTAS, "rounds": x.rounds or max(2, WORDS // (CTAS * x.words))}
        few = FEW | ({"rounds": x.rounds} if x.rounds else {})
        for whole in (True, False):
            result = x.make(whole=whole, **few).run(banks=False)
            found = sorted({str(f.kind) for f in [*result.races, *result.faults]})
            if whole and (found or result.outputs["out"].any()):
                raise RuntimeError(f"{name}: {result.races} {result.faults}")
            for size, shape in (("many", many), ("few", few)):
                label = f"{name}, {'whole' if whole else 'cut'}, {size}"
                kernels[size, label] = x.make(whole=whole, **shape)
                what = {"name": name, "what": x.what, "whole": whole, "size": size, **shape}
                about.append({**what, "words": x.words, "host": x.host, "simulator": found})
    index: list[dict[str, Any]] = []
    for k, (entry, (_, kernel, image)) in enumerate(zip(about, compiled(kernels), strict=True)):
        (folder / f"{k}.cubin").write_bytes(image)
        index.append({**entry, "contract": to_plain(kernel.contract), "grid": kernel.grid})
    (folder / "index.json").write_text(json.dumps(index) + "\n")


def one(folder: Path, k: int, repeats: int) -> dict[str, Any]:
    """Launch an experiment: launches with wrong words, and the wrong words of each."""
    import cupy

    entry = json.loads((folder / "index.json").read_text())[k]
    contract = from_plain(entry["contract"])
    total = entry["ctas"] * entry["rounds"] * entry["words"]
    arrays = {
        "src": cupy.arange(total, dtype=cupy.int32),
        "far": cupy.empty(total, cupy.int32),
        "out": cupy.empty(entry["ctas"] * contract.threads, cupy.int32),
    }
    layouts = {n: Layout(a.shape, a.strides, 4) for n, a in arrays.items()}
    image = (folder / f"{k}.cubin").read_bytes()
    launcher = Launcher(contract, tuple(entry["grid"]), layouts, arrays, image)
    wrong: list[int] = []
    for _ in range(repeats):
        arrays["far"].fill(-1)
        arrays["out"].fill(-1)
        launcher.run()
        wrong.append(int(arrays["out"].astype(cupy.int64).sum()))
        if entry["host"]:
            wrong[-1] += int((arrays["far"] != arrays["src"]).sum())
    return {"runs": repeats, "same": wrong.count(0), "wrong": wrong, "of": total}


def run(folder: Path, output: Path) -> int:
    """Every experiment, whole and cut; the number of whole ones that were wrong."""
    started = time.perf_counter()
    index = json.loads((folder / "index.json").read_text())
    chosen = [k for k, e in enumerate(index) if e["size"] == "many"]
    found = apart([MODULE, "some", str(folder)], chosen)
    report: dict[str, Any] = {"gpu": gpu(), "repeats": REPEATS, "ctas": CTAS, "experiments": {}}
    for k in chosen:
        entry = index[k]
        row = report["experiments"].setdefault(entry["name"], {"what": entry["what"]})
        row |= {"rounds": entry["rounds"], "words": entry["words"]}
        row["whole" if entry["whole"] else "cut"] = {"simulator": entry["simulator"], **found[k]}
    write(output, report | {"seconds": round(time.perf_counter() - started, 1)})
    return sum(found[k]["same"] != REPEATS for k in chosen if index[k]["whole"])


def race(folder: Path, output: Path) -> int:
    """Few CTAs of every experiment under racecheck; the tool's text beside `output`."""
    index = json.loads((folder / "index.json").read_text())
    chosen = [k for k, e in enumerate(index) if e["size"] == "few"]
    ended, text = watched([MODULE, "once", str(folder)], chosen)
    output.with_suffix(".txt").write_text(text)
    found: dict[str, Any] = {}
    for k in chosen:
        entry = index[k]
        told = told_of(text, entry["contract"]["entry"])
        side = {"simulator": entry["simulator"], "process": ended[k], "racecheck": told}
        found.setdefault(entry["name"], {})["whole" if entry["whole"] else "cut"] = side
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
