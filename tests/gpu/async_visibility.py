"""Whether a missing synchronisation of bulk copies shows on a GPU.

    python -m tests.gpu.async_visibility prepare build/visibility              # anywhere, with xDSL
    python -m tests.gpu.async_visibility run build/visibility visibility.json  # on the GPU
    python -m tests.gpu.async_visibility race build/visibility race.json       # with compute-sanitizer

`prepare` simulates the experiments of `tests/async_visibility.py` on a few CTAs and compiles them.
`run` launches each with and without its synchronisation and counts the wrong words that it saw itself.
A race that no launch showed is a race all the same: what orders the accesses there is luck.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tests.gpu.async_commands import Commands, Found, Raced
from tests.gpu.async_folder import Json, Stored, compiled, index, launcher, store
from tests.gpu.async_launcher import Layout

if TYPE_CHECKING:
    from tests.async_text import Kernel
    from tests.async_visibility import Experiment

REPEATS, CTAS, WORDS = 20, 528, 1 << 24
"""Launches of each; their CTAs, 4 for every multiprocessor of an H200; words that go through memory."""
FEW = {"ctas": 4, "rounds": 3}
"""What is simulated, and run under racecheck."""


def prepare(folder: Path) -> None:
    """Simulate every experiment, whole and cut, and compile it for few and for many CTAs."""
    from tests.async_visibility import EXPERIMENTS

    variants = [v for name, x in EXPERIMENTS.items() for v in _variants(name, x)]
    kernels = {_label(about): kernel for about, kernel in variants}
    made = zip(variants, compiled(kernels), strict=True)
    store(folder, (Stored(*code, about) for (about, _), code in made))


def _variants(name: str, x: Experiment) -> Iterator[tuple[Json, Kernel]]:
    """An experiment with and without its synchronisation, for many CTAs and for few."""
    many = {"ctas": CTAS, "rounds": x.rounds or max(2, WORDS // (CTAS * x.words))}
    few = FEW | ({"rounds": x.rounds} if x.rounds else {})
    for whole in (True, False):
        result = x.make(whole=whole, **few).run(banks=False)
        found = sorted({str(f.kind) for f in [*result.races, *result.faults]})
        if whole and (found or result.outputs["out"].any()):
            raise RuntimeError(f"{name}: {result.races} {result.faults}")
        for size, shape in (("many", many), ("few", few)):
            what = {"name": name, "what": x.what, "whole": whole, "size": size, **shape}
            about = {**what, "words": x.words, "host": x.host, "simulator": found}
            yield about, x.make(whole=whole, **shape)


def _side(entry: Json) -> str:
    return "whole" if entry["whole"] else "cut"


def _label(entry: Json) -> str:
    return f"{entry['name']}, {_side(entry)}, {entry['size']}"


def one(folder: Path, k: int, repeats: int) -> Json:
    """Launch an experiment: launches with wrong words, and the wrong words of each."""
    import cupy

    entry = index(folder)[k]
    total = entry["ctas"] * entry["rounds"] * entry["words"]
    arrays = {
        "src": cupy.arange(total, dtype=cupy.int32),
        "far": cupy.empty(total, cupy.int32),
        "out": cupy.empty(entry["ctas"] * entry["contract"]["threads"], cupy.int32),
    }
    ready = launcher(folder, k, {n: Layout(a.shape, a.strides, 4) for n, a in arrays.items()}, arrays)
    wrong: list[int] = []
    for _ in range(repeats):
        arrays["far"].fill(-1)
        arrays["out"].fill(-1)
        ready.run()
        wrong.append(int(arrays["out"].astype(cupy.int64).sum()))
        if entry["host"]:
            wrong[-1] += int((arrays["far"] != arrays["src"]).sum())
    return {"runs": repeats, "same": wrong.count(0), "wrong": wrong, "of": total}


def report(index: list[Json], found: Found) -> tuple[Json, int]:
    """Every experiment, whole and cut, and how many whole ones were wrong."""
    rows: dict[str, Json] = {}
    for k, outcome in found.items():
        entry = index[k]
        row = rows.setdefault(entry["name"], {"what": entry["what"]})
        row |= {"rounds": entry["rounds"], "words": entry["words"]}
        row[_side(entry)] = {"simulator": entry["simulator"], **outcome}
    wrong = sum(x["same"] != REPEATS for k, x in found.items() if index[k]["whole"])
    return {"ctas": CTAS, "experiments": rows}, wrong


def told(index: list[Json], found: Found) -> Json:
    """What racecheck says of every experiment, whole and cut."""
    rows: dict[str, Json] = {}
    for k, outcome in found.items():
        rows.setdefault(index[k]["name"], {})[_side(index[k])] = outcome
    return rows


COMMANDS = Commands(
    "tests.gpu.async_visibility",
    help=__doc__ or "",
    repeats=REPEATS,
    prepare=prepare,
    one=one,
    chosen=lambda entry: entry["size"] == "many",
    report=report,
    raced=Raced(chosen=lambda entry: entry["size"] == "few", report=told),
)

if __name__ == "__main__":
    sys.exit(COMMANDS.main(sys.argv[1:]))
