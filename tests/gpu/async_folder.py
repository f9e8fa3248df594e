"""Kernels compiled into a folder on one machine and launched from it on another, which needs no xDSL."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phobos_nb import target
from phobos_nb.contract import from_plain, to_plain
from phobos_nb.cuda import nvrtc
from tests.async_bytes import Bytes, bytes_of
from tests.gpu.async_launcher import Launcher, Layout

if TYPE_CHECKING:
    from tests.async_text import Kernel

Json = dict[str, Any]


@dataclass(frozen=True)
class Stored:
    """A kernel, its machine code, what the index says of it, and the bytes that it is to write.

    wanted: by tensor; None where no bytes are kept, those of the arguments neither.
    """

    kernel: Kernel
    image: bytes
    about: Json
    wanted: Bytes | None = None


def compiled(kernels: Mapping[str, Kernel]) -> Iterator[tuple[Kernel, bytes]]:
    """Kernels, each with an entry named as it is, and their machine code for sm_90a."""
    from phobos_nb.cuda.emit import emit
    from tests.async_text import renamed

    chip = target.get("sm_90a")
    named = {name: renamed(kernel, re.sub(r"\W+", "_", name)) for name, kernel in kernels.items()}
    jobs = [nvrtc.Job(emit(k.module, chip).text, chip.nvrtc_arch) for k in named.values()]
    for name, made in zip(named, nvrtc.compile_all(jobs, workers=2), strict=True):
        if not isinstance(made, nvrtc.NvrtcResult):
            raise RuntimeError(f"{name}: {made}")
        yield named[name], made.cubin


def store(folder: Path, kernels: Iterable[Stored]) -> None:
    """Write kernels into a folder; the place of each in the index is its number."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = [_store(folder, k, kernel) for k, kernel in enumerate(kernels)]
    (folder / "index.json").write_text(json.dumps(entries) + "\n")


def _store(folder: Path, k: int, stored: Stored) -> Json:
    made = stored.kernel
    entry = {**stored.about, "contract": to_plain(made.contract), "grid": made.grid}
    (folder / f"{k}.cubin").write_bytes(stored.image)
    if stored.wanted is None:
        return entry
    before = {f"in_{n}": bytes_of(a) for n, a in made.arguments.items()}
    np.savez(folder / f"{k}.npz", **before, **{f"out_{n}": b for n, b in stored.wanted.items()})
    layouts = {n: Layout(a.shape, a.strides, a.itemsize).plain() for n, a in made.arguments.items()}
    return {**entry, "layouts": layouts}


def index(folder: Path) -> list[Json]:
    """What is known of the kernels of a folder, by number."""
    return json.loads((folder / "index.json").read_text())


def launcher(folder: Path, k: int, layouts: Mapping[str, Layout], arrays: Mapping[str, Any]) -> Launcher:
    """A kernel of a folder, ready to be launched on arrays of the GPU."""
    entry = index(folder)[k]
    image = (folder / f"{k}.cubin").read_bytes()
    return Launcher(from_plain(entry["contract"]), tuple(entry["grid"]), layouts, arrays, image)


def launches(folder: Path, k: int, repeats: int) -> Iterator[tuple[Bytes, dict[str, list[int]]]]:
    """Launch a kernel on its stored bytes: what it wrote, and where that first differs, by tensor."""
    import cupy

    with np.load(folder / f"{k}.npz") as file:
        stored = dict(file)
    layouts = {n: Layout(**x) for n, x in index(folder)[k]["layouts"].items()}
    wanted = {n: stored[f"out_{n}"] for n in layouts if f"out_{n}" in stored}
    arrays = {n: cupy.asarray(stored[f"in_{n}"]) for n in layouts}
    ready = launcher(folder, k, layouts, arrays)
    for _ in range(repeats):
        for name, array in arrays.items():
            array.set(stored[f"in_{name}"])
        ready.run()
        found = {n: arrays[n].get() for n in wanted}
        wrong = {n: np.flatnonzero(found[n] != wanted[n])[:8].tolist() for n in wanted}
        yield found, {n: where for n, where in wrong.items() if where}
