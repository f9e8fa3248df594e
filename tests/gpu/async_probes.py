"""What a GPU does with boxes at the edge of the rules of bulk copies, and beyond.

    python -m tests.gpu.async_probes prepare build/probes            # anywhere, with xDSL
    python -m tests.gpu.async_probes run build/probes probes.json    # on the GPU

Of every probe of `tests/async_probes.py`: whether the bytes are those of its loops, or how it ends.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb.arguments import tensor_maps
from phobos_nb.contract import from_plain, to_plain
from tests.gpu.async_apart import apart, gpu, several, write
from tests.gpu.async_launcher import Launcher, Layout

MODULE = "tests.gpu.async_probes"
REPEATS = 5


def prepare(folder: Path) -> None:
    """Compile every probe, and store its arrays and the bytes that are wanted."""
    from tests.async_bytes import bytes_of
    from tests.async_probes import PROBES
    from tests.gpu.async_copies import compiled

    folder.mkdir(parents=True, exist_ok=True)
    index: list[dict[str, Any]] = []
    kernels = {("probe", name): probe.kernel() for name, probe in PROBES.items()}
    for k, ((_, name), kernel, image) in enumerate(compiled(kernels)):
        (folder / f"{k}.cubin").write_bytes(image)
        stored = {f"in_{n}": bytes_of(a) for n, a in kernel.arguments.items()}
        wanted = PROBES[name].wanted(kernel)
        np.savez(folder / f"{k}.npz", **stored, **{f"out_{n}": bytes_of(a) for n, a in wanted.items()})
        layouts = {
            n: Layout(a.shape, a.strides, a.itemsize).plain() for n, a in kernel.arguments.items()
        }
        index.append({"name": name, "contract": to_plain(kernel.contract), "layouts": layouts})
    (folder / "index.json").write_text(json.dumps(index) + "\n")


def one(folder: Path, k: int) -> dict[str, Any]:
    """Launch a probe some times: how often the bytes were the wanted ones."""
    import cupy

    # The driver's own rules are asked here, which allow more than ours.
    tensor_maps._box_problems = lambda *_: []
    entry = json.loads((folder / "index.json").read_text())[k]
    stored = np.load(folder / f"{k}.npz")
    layouts = {n: Layout(**x) for n, x in entry["layouts"].items()}
    arrays = {n: cupy.asarray(stored[f"in_{n}"]) for n in layouts}
    image = (folder / f"{k}.cubin").read_bytes()
    launcher = Launcher(from_plain(entry["contract"]), (1, 1, 1), layouts, arrays, image)
    same, first = 0, list[int]()
    for _ in range(REPEATS):
        for name, array in arrays.items():
            array.set(stored[f"in_{name}"])
        launcher.run()
        for name in (n for n in layouts if f"out_{n}" in stored.files):
            wrong = np.flatnonzero(arrays[name].get() != stored[f"out_{name}"])
            same += not len(wrong)
            first = first or wrong[:8].tolist()
    return {"runs": REPEATS, "same": same, **({"first_different_bytes": first} if first else {})}


def run(folder: Path, output: Path) -> None:
    """Every probe."""
    started = time.perf_counter()
    index = json.loads((folder / "index.json").read_text())
    found = apart([MODULE, "some", str(folder)], range(len(index)))
    outcomes = {e["name"]: _outcome(found[k]) for k, e in enumerate(index)}
    seconds = round(time.perf_counter() - started, 1)
    write(output, {"gpu": gpu(), "repeats": REPEATS, "seconds": seconds, "outcomes": outcomes})


def _outcome(found: dict[str, Any]) -> str:
    if "error" in found:
        return str(found["error"]).split(":")[0]
    return (
        "equal" if found["same"] == found["runs"] else f"different at {found['first_different_bytes']}"
    )


def main(arguments: list[str]) -> int:
    """One of the commands above."""
    match arguments:
        case ["prepare", folder]:
            prepare(Path(folder))
        case ["run", folder, output]:
            run(Path(folder), Path(output))
        case ["some", folder, *numbers]:
            several([int(k) for k in numbers], lambda k: one(Path(folder), k))
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
