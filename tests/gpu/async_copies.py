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

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phobos_nb.cuda import nvrtc
from tests.async_bytes import digest, simulated
from tests.gpu.async_commands import Commands, Found, Raced
from tests.gpu.async_folder import Json, Stored, compiled, launches, store

if TYPE_CHECKING:
    from tests.async_text import Kernel

BESIDE = ("plain copies", "ring", "multicast", "exchange", "named barriers", "load 2d f16 128B")
"""Kernels without a race that racecheck is shown too."""


def prepare(folder: Path) -> None:
    """Simulate and compile every kernel, and store what a GPU needs of it."""
    from tests.async_faults import PLANTED
    from tests.async_kernels import KERNELS
    from tests.async_random import RANDOM

    groups = {"kernel": KERNELS, "random": RANDOM, "planted": PLANTED}
    group_of = {name: group for group, some in groups.items() for name in some}
    made = compiled({name: make() for some in groups.values() for name, make in some.items()})
    named = zip(group_of.items(), made, strict=True)
    store(folder, (_stored(group, name, *code) for (name, group), code in named))


def _stored(group: str, name: str, kernel: Kernel, image: bytes) -> Stored:
    """A kernel with what the simulator sees of it and the bytes that it writes there."""
    result, _, after = simulated(kernel)
    races = sorted({str(r.kind) for r in result.races})
    if group != "planted" and (result.faults or races):
        raise RuntimeError(f"{name}: {result.faults} {races}")
    return Stored(kernel, image, {"name": name, "group": group, "simulator": races}, after)


def one(folder: Path, k: int, repeats: int) -> Json:
    """Launch one stored kernel some times: how often all bytes were the simulator's."""
    same, different, seen = 0, dict[str, list[int]](), set[str]()
    for found, wrong in launches(folder, k, repeats):
        different |= wrong
        same += not wrong
        seen.add(digest(found))
    counts = {"runs": repeats, "same": same, "sha256": sorted(seen)}
    return counts | ({"first_different_bytes": different} if different else {})


def report(index: list[Json], found: Found) -> tuple[Json, int]:
    """Every kernel, and those that differ."""
    told: dict[str, Any] = {"nvrtc": list(nvrtc.version())}
    for group in ("kernel", "random"):
        told[group] = {index[k]["name"]: x for k, x in found.items() if index[k]["group"] == group}
    wrong = [index[k]["name"] for k, x in found.items() if x["same"] != x["runs"] or not x["runs"]]
    return told | {"wrong": wrong}, len(wrong)


COMMANDS = Commands(
    "tests.gpu.async_copies",
    help=__doc__ or "",
    repeats=20,
    prepare=prepare,
    one=one,
    chosen=lambda entry: entry["group"] != "planted",
    report=report,
    raced=Raced(
        chosen=lambda entry: entry["group"] == "planted" or entry["name"] in BESIDE,
        report=lambda index, found: {index[k]["name"]: x for k, x in found.items()},
    ),
)

if __name__ == "__main__":
    sys.exit(COMMANDS.main(sys.argv[1:]))
