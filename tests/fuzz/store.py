"""Generated programs compiled ahead for a GPU machine: code, contracts, and what the meaning expects.

usage: python -m tests.fuzz.store FOLDER [--count N] [--seed S] [--target sm_90a] [--workers W]

Writes manifest.json, expected.npz (bf16 by its bits) and one file of machine code per program. Inputs
are made again from their recipes; their checksum is kept. Programs that print are left out: the folder
is run without the host side of device output.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb.contract import LaunchContract, from_plain, to_plain
from tests.fuzz.arrays import NUMPY, ArrayRecipe
from tests.fuzz.generate import Program, generate
from tests.fuzz.judge import compiled, fixed_kernel, meaning_of


@dataclass(frozen=True)
class Stored:
    """One program of a folder. expected: of every written tensor, with its absolute tolerance."""

    seed: int
    text: str
    contract: LaunchContract
    code: Path
    grid: tuple[int, int, int]
    recipes: Mapping[str, ArrayRecipe]
    scalars: Mapping[str, tuple[str, float | int | bool]]
    tolerances: Mapping[str, float]
    expected: Mapping[str, Any]
    checksum: int

    def arrays(self) -> dict[str, Any]:
        """Fresh inputs; `AssertionError` where they are not those that the meaning ran on."""
        made = {name: recipe.make() for name, recipe in self.recipes.items()}
        assert checksum(made) == self.checksum, "NumPy's random numbers differ on this machine"
        return made


def checksum(arrays: Mapping[str, Any]) -> int:
    """A number that tells whether arrays are the same."""
    total = 0
    for name in sorted(arrays):
        total = zlib.crc32(np.ascontiguousarray(arrays[name]).tobytes(), total)
    return total


Row = dict[str, Any]


def stored(target: str, seed: int) -> tuple[Row, bytes, dict[str, Any]] | None:
    """One program's row, machine code and expectations; None where it prints."""
    program = generate(seed)
    if "print" in program.features:
        return None
    kernel = fixed_kernel(program, target)
    expected, _ = meaning_of(program, kernel)
    compilation = compiled(program, kernel)
    return _row(program, compilation.contract), compilation.cubin, expected


def _row(program: Program, contract: LaunchContract) -> Row:
    inputs = {n: v for n, v in program.arguments().items() if n in program.arrays}
    extents = {
        d: n for t in contract.tensors for d, n in zip(t.dims, inputs[t.name].shape, strict=True)
        if isinstance(d, str)
    }  # fmt: skip
    return {
        "seed": program.seed,
        "text": program.text,
        "contract": to_plain(contract),
        "code": f"{program.seed}.cubin.gz",
        "grid": program.grid or contract.grid.shape(extents),
        "recipes": {n: asdict(r) for n, r in program.arrays.items()},
        "scalars": dict(program.scalars),
        "tolerances": dict(program.tolerances),
        "checksum": checksum(inputs),
    }


def save(folder: Path, count: int, first: int, target: str, workers: int) -> int:
    """Write a folder of `count` programs."""
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    arrays: dict[str, Any] = {}
    with ProcessPoolExecutor(workers) as pool:
        seeds = range(first, first + count + count // 4)
        for done in pool.map(partial(stored, target), seeds, chunksize=4):
            if done is not None and len(rows) < count:
                row, code, expected = done
                (folder / row["code"]).write_bytes(gzip.compress(code, mtime=0))
                arrays |= {f"{row['seed']}/{n}": _plain(v) for n, v in expected.items()}
                rows.append(row)
    np.savez_compressed(folder / "expected.npz", **arrays)
    (folder / "manifest.json").write_text(json.dumps(rows), "utf-8")
    return len(rows)


def _plain(array: Any) -> Any:
    """bf16 by its bits, which `npz` can hold."""
    dense = np.ascontiguousarray(array)
    return dense.view(np.uint16) if dense.dtype == NUMPY["bf16"] else dense


def load(folder: Path) -> Iterator[Stored]:
    """The programs of a folder."""
    rows: list[Row] = json.loads((folder / "manifest.json").read_text("utf-8"))
    with np.load(folder / "expected.npz") as arrays:
        for row in rows:
            recipes = {
                n: ArrayRecipe(**{**r, "shape": tuple(r["shape"])}) for n, r in row["recipes"].items()
            }
            yield Stored(
                row["seed"],
                row["text"],
                from_plain(row["contract"]),
                folder / row["code"],
                tuple(row["grid"]),
                recipes,
                {n: (d, v) for n, (d, v) in row["scalars"].items()},
                row["tolerances"],
                {n: _typed(arrays[f"{row['seed']}/{n}"], recipes[n].dtype) for n in row["tolerances"]},
                row["checksum"],
            )


def _recipe(row: Row) -> ArrayRecipe:
    return ArrayRecipe(**{**row, "shape": tuple(row["shape"])})


def _typed(array: Any, dtype: str) -> Any:
    return array.view(NUMPY["bf16"]) if dtype == "bf16" else array


def main() -> int:
    """Compile and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=100_000)
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--workers", type=int, default=2)
    parsed = parser.parse_args()
    count = save(parsed.folder, parsed.count, parsed.seed, parsed.target, parsed.workers)
    size = sum(f.stat().st_size for f in parsed.folder.iterdir())
    print(f"{count} programs, {size / 2**20:.1f} MiB in {parsed.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
