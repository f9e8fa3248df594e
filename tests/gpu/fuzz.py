"""Generated programs on the GPU against the NumPy meaning; results as JSON.

usage: python -m tests.gpu.fuzz FOLDER RESULTS.json

FOLDER is what `python -m tests.fuzz.store FOLDER` wrote. Every array lies in a poisoned buffer
(`placed.py`); a written byte outside the arrays, or a changed input, fails. Exit status 1 on failures.
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb.contract import EntryArgument
from phobos_nb.cuda.driver import cupy, driver_api
from phobos_nb.cuda.loading import load_kernel
from tests.fuzz.arrays import NUMPY
from tests.fuzz.judge import differing
from tests.fuzz.store import Stored, load
from tests.gpu.circumstances import circumstances
from tests.gpu.placed import Placed


def launched(program: Stored) -> dict[str, Any]:
    """All tensors after one launch."""
    module = cupy()
    inputs = program.arrays()
    placed = {n: Placed(_bits(a), module) for n, a in inputs.items()}
    if 0 not in program.grid:
        _launch(program, {n: p.array for n, p in placed.items()})
    return {n: p.fetch().view(inputs[n].dtype) for n, p in placed.items()}


def _bits(array: Any) -> Any:
    """The array, bf16 as integers of the same bits: not every CuPy knows the type."""
    return array.view(np.uint16) if array.dtype == NUMPY["bf16"] else array


def _launch(program: Stored, arrays: Mapping[str, Any]) -> None:
    contract, driver = program.contract, driver_api()
    kernel = load_kernel(gzip.decompress(program.code.read_bytes()), contract)
    values = [_argument(program, a, arrays) for a in contract.arguments]
    table = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
    shared = contract.shared_bytes if contract.dynamic_shared else 0
    driver.launchKernel(
        kernel.function, *program.grid, contract.threads, 1, 1, shared, 0, ctypes.addressof(table), 0
    )
    cupy().cuda.runtime.deviceSynchronize()


def _argument(program: Stored, argument: EntryArgument, arrays: Mapping[str, Any]) -> Any:
    index = ctypes.c_int64 if program.contract.variant.index_bits == 64 else ctypes.c_int32
    if argument.kind == "pointer":
        return ctypes.c_uint64(arrays[argument.name].data.ptr)
    if argument.kind == "extent":
        return index(_extent(program, argument.name, arrays))
    if argument.kind == "stride":
        array = arrays[argument.name]
        return index(array.strides[argument.axis] // array.itemsize)
    dtype, value = program.scalars[argument.name]
    raw = np.asarray(value).astype(NUMPY[dtype]).tobytes()
    return (ctypes.c_char * len(raw)).from_buffer_copy(raw)


def _extent(program: Stored, symbol: str, arrays: Mapping[str, Any]) -> int:
    for tensor in program.contract.tensors:
        if symbol in tensor.dims:
            return int(arrays[tensor.name].shape[tensor.dims.index(symbol)])
    raise KeyError(symbol)


def judged(program: Stored) -> dict[str, Any]:
    """One row: whether all is as the meaning says, and what is not."""
    row: dict[str, Any] = {"seed": program.seed, "ok": True}
    try:
        found = launched(program)
    except (AssertionError, RuntimeError, ValueError) as error:
        return {**row, "ok": False, "problem": f"{type(error).__name__}: {error}"[:300]}
    for name, before in program.arrays().items():
        wanted, tolerance = program.expected.get(name, before), program.tolerances.get(name, 0.0)
        bad = differing(wanted, found[name], 2 * tolerance)
        if bad.any():
            first = tuple(int(i) for i in np.argwhere(bad)[0])
            row["ok"] = False
            row["problem"] = (
                f"{name}{list(first)}: meaning {wanted[first]!r}, GPU {found[name][first]!r}, "
                f"tolerance {tolerance:g}, {int(bad.sum())} of {bad.size}"
            )
    return row


def main() -> int:
    """Run all, write the rows, print every failure with its program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parsed = parser.parse_args()
    start, rows = time.perf_counter(), []
    for program in load(parsed.folder):
        row = judged(program)
        rows.append(row)
        if not row["ok"]:
            print(f"seed {row['seed']}: {row['problem']}\n{program.text}", flush=True)
    parsed.results.write_text(json.dumps({**circumstances(), "rows": rows}), "utf-8")
    failed = sum(not row["ok"] for row in rows)
    print(f"{len(rows)} programs, {failed} failed, {time.perf_counter() - start:.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
