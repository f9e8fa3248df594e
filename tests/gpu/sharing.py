"""Programs in which threads hand elements to each other, on a GPU against the simulator, bit by bit.

usage: python -m tests.gpu.sharing prepare FOLDER [--count N] [--seed S] [--target sm_90a]   (anywhere)
       python -m tests.gpu.sharing run FOLDER RESULTS.json [--repeats N]                     (on the GPU)

The programs are those of `tests/fuzz/sharing.py`; a barrier too few would show as other bits in some of
the repeated launches. Exit status 1 where any differ.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb.contract import from_plain, to_plain
from phobos_nb.cuda.driver import cupy
from phobos_nb.simulate.launch import simulate
from tests.fuzz.barriers import compiled
from tests.fuzz.sharing import sharing_program
from tests.fuzz.store import Stored, checksum
from tests.gpu.circumstances import circumstances
from tests.gpu.fuzz import _launch
from tests.gpu.placed import Placed


def bits(arrays: dict[str, Any]) -> int:
    """A number that tells whether arrays are the same, all NaN being one."""
    return checksum({n: np.where(np.isnan(a), np.float32(np.nan), a) for n, a in arrays.items()})


def arrays_of(launch: dict[str, Any]) -> dict[str, Any]:
    """The arrays of a launch, without its scalars."""
    return {n: v for n, v in launch.items() if isinstance(v, np.ndarray)}


def prepared(seed: int, target: str, folder: Path) -> dict[str, Any]:
    """One program's row: what its launches get, and what the simulator says they leave."""
    program = sharing_program(seed)
    compilation = compiled(program, target)
    (folder / f"{seed}.cubin.gz").write_bytes(gzip.compress(compilation.cubin, mtime=0))
    module, contract = compilation.thread_module, compilation.contract
    results = [simulate(module, contract, a, grid=program.grid) for a in program.launches]
    assert all(r.clean for r in results)
    return {
        "seed": seed,
        "contract": to_plain(contract),
        "barriers": sum(b.kept for b in compilation.barriers),
        "text": zlib.crc32(program.text.encode()),
        "inputs": [checksum(arrays_of(a)) for a in program.launches],
        "outputs": [bits(r.outputs) for r in results],
    }


def prepare(parsed: argparse.Namespace) -> int:
    """Write a folder of programs."""
    parsed.folder.mkdir(parents=True, exist_ok=True)
    seeds = range(parsed.seed, parsed.seed + parsed.count)
    rows = [prepared(seed, parsed.target, parsed.folder) for seed in seeds]
    (parsed.folder / "manifest.json").write_text(json.dumps(rows), "utf-8")
    return 0


def judged(row: dict[str, Any], folder: Path, repeats: int) -> dict[str, Any]:
    """How many launches of a program left other bits than the simulator."""
    program, contract = sharing_program(row["seed"]), from_plain(row["contract"])
    assert zlib.crc32(program.text.encode()) == row["text"], "another program than was prepared"
    code = folder / f"{row['seed']}.cubin.gz"
    written = [t.name for t in contract.tensors if t.writes]
    differing = launches = 0
    for arguments, inputs, outputs in zip(program.launches, row["inputs"], row["outputs"], strict=True):
        assert checksum(arrays_of(arguments)) == inputs, "NumPy's random numbers differ on this machine"
        scalars = {n: ("i32", v) for n, v in arguments.items() if not isinstance(v, np.ndarray)}
        stored = Stored(row["seed"], "", contract, code, program.grid, {}, scalars, {}, {}, 0)
        for _ in range(repeats):
            placed = {n: Placed(a, cupy()) for n, a in arrays_of(arguments).items()}
            _launch(stored, {n: p.array for n, p in placed.items()})
            found = {n: p.fetch() for n, p in placed.items()}
            launches += 1
            differing += bits({n: found[n] for n in written}) != outputs
    return {
        "seed": row["seed"],
        "barriers": row["barriers"],
        "launches": launches,
        "differing": differing,
    }


def run(parsed: argparse.Namespace) -> int:
    """Launch all, write the rows and say how many differ."""
    start = time.perf_counter()
    manifest = json.loads((parsed.folder / "manifest.json").read_text("utf-8"))
    rows = [judged(row, parsed.folder, parsed.repeats) for row in manifest]
    launches, differing = (sum(row[k] for row in rows) for k in ("launches", "differing"))
    result = {
        **circumstances(),
        "programs": len(rows),
        "barriers": sum(row["barriers"] for row in rows),
        "launches": launches,
        "differing": differing,
        "rows": rows,
    }
    parsed.results.write_text(json.dumps(result) + "\n", "utf-8")
    seconds = time.perf_counter() - start
    print(f"{len(rows)} programs, {launches} launches, {differing} differ; {seconds:.1f} s")
    return int(differing > 0)


def main() -> int:
    """Prepare or run."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    first = commands.add_parser("prepare")
    first.add_argument("folder", type=Path)
    first.add_argument("--count", type=int, default=100)
    first.add_argument("--seed", type=int, default=0)
    first.add_argument("--target", default="sm_90a")
    first.set_defaults(do=prepare)
    second = commands.add_parser("run")
    second.add_argument("folder", type=Path)
    second.add_argument("results", type=Path)
    second.add_argument("--repeats", type=int, default=10)
    second.set_defaults(do=run)
    parsed = parser.parse_args()
    return parsed.do(parsed)


if __name__ == "__main__":
    sys.exit(main())
