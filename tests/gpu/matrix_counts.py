"""What ncu counts for ldmatrix, stmatrix and wgmma: one launch per address pattern.

    python -m tests.gpu.matrix_counts count OUT.jsonl       # on an H200 with ncu

Each kernel of moves is one warp and one instruction, between a load of the row addresses and a store
that never happens. A kernel of wgmma is one warpgroup and one product.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from phobos_nb import target
from phobos_nb.cuda import nvrtc
from phobos_nb.cuda.emit import emit
from tests.gpu.tensor_core_jobs import descriptor
from tests.tensor_core_kernels import Wgmma, wgmma_kernel

METRICS = (
    "l1tex__data_pipe_lsu_wavefronts.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "l1tex__data_bank_reads.sum",
    "l1tex__data_bank_writes.sum",
)
COUNTS = Path(__file__).parents[1] / "simulate" / "data" / "wavefronts_h200.jsonl"
LOAD = """
extern "C" __global__ void {name}(const int* rows, unsigned* out) {{
  __shared__ __align__(1024) unsigned char s[16384];
  const unsigned p = (unsigned)__cvta_generic_to_shared(s) + rows[threadIdx.x] * 16;
  unsigned r0 = 0, r1 = 0, r2 = 0, r3 = 0;
  asm volatile("{text}" : {outputs} : "r"(p) : "memory");
  if ((r0 ^ r1 ^ r2 ^ r3) == 0x12345678u) out[0] = r0;
}}"""
STORE = """
extern "C" __global__ void {name}(const int* rows, unsigned* out) {{
  __shared__ __align__(1024) unsigned char s[16384];
  const unsigned p = (unsigned)__cvta_generic_to_shared(s) + rows[threadIdx.x] * 16, r = threadIdx.x;
  asm volatile("{text}" : : "r"(p), "r"(r) : "memory");
}}"""
EMPTY = """
extern "C" __global__ void {name}(const int* rows, unsigned* out) {{
  if (rows[threadIdx.x] == 0x12345678) out[0] = 1;
}}"""


def moves() -> dict[str, str]:
    """The text of each kernel of moves, by its name."""
    texts = {"empty": EMPTY.format(name="empty")}
    for tiles in (1, 2, 4):
        for way in ("", ".trans"):
            slots = ", ".join(f"%{k}" for k in range(tiles))
            outputs = ", ".join(f'"=r"(r{k})' for k in range(tiles))
            name = f"ldmatrix_x{tiles}{way.replace('.', '_')}"
            text = f"ldmatrix.sync.aligned.m8n8.x{tiles}{way}.shared.b16 {{{slots}}}, [%{tiles}];"
            texts[name] = LOAD.format(name=name, text=text, outputs=outputs)
            given = ", ".join(["%1"] * tiles)
            name = name.replace("ld", "st", 1)
            text = f"stmatrix.sync.aligned.m8n8.x{tiles}{way}.shared.b16 [%0], {{{given}}};"
            texts[name] = STORE.format(name=name, text=text)
    return texts


def patterns() -> dict[str, list[int]]:
    """The row addresses in pieces of 16 bytes: the patterns that the counts of loads have."""
    found: dict[str, list[int]] = {}
    for line in COUNTS.read_text().splitlines():
        row = json.loads(line)
        if max(row["index"]) < 1024:
            found.setdefault(row["pattern"], row["index"])
    for step in (3, 5, 9, 17, 18, 20, 24):
        found[f"lane*{step}"] = [k * step for k in range(32)]
    return found


def launches() -> Iterator[tuple[str, str]]:
    """Kernel and pattern of every launch of moves, in order."""
    for name in moves():
        for pattern in patterns():
            if name.endswith("x4") or pattern in ("lane", "lane*2", "lane*4", "lane*8", "lane*9"):
                yield name, pattern


def products() -> dict[str, tuple[Wgmma, int]]:
    """Products of wgmma, with the swizzle of both operands."""
    found: dict[str, tuple[Wgmma, int]] = {}
    for n in (8, 64, 256):
        for swizzle in (0, 32, 64, 128):
            for mn in (False, True):
                case = Wgmma(n, "f16", "f32", mn_major=(mn, mn))
                found[f"n{n} swizzle {swizzle} {'MN' if mn else 'K'}"] = (case, swizzle)
    registers = Wgmma(64, "f16", "f32", in_registers=True)
    return found | {"n64 swizzle 128 K registers": (registers, 128)}


def launch(folder: Path) -> None:
    """Launch everything once, machine code in `folder`; ncu watches."""
    import cupy

    texts = moves()
    cases = products()
    chip = target.get("sm_90a")
    made = {name: wgmma_kernel(case, 40960) for name, (case, _) in cases.items()}
    jobs = [nvrtc.Job(t, "sm_90a") for t in texts.values()]
    jobs += [nvrtc.Job(emit(k.module, chip).text, "sm_90a") for k in made.values()]
    codes = dict(zip([*texts, *made], nvrtc.compile_all(jobs, workers=8), strict=True))
    functions = {}
    for name, result in codes.items():
        path = folder / f"{len(functions)}.cubin"
        path.write_bytes(result.cubin)
        functions[name] = cupy.RawModule(path=str(path)).get_function(name if name in texts else "kern")
    rows = {n: cupy.asarray(np.array(p, np.int32)) for n, p in patterns().items()}
    out = cupy.zeros(1024, np.uint32)
    cupy.cuda.Device().synchronize()
    for name, pattern in launches():
        functions[name]((1,), (32,), (rows[pattern], out))
    for name, (case, swizzle) in cases.items():
        _launch_product(cupy, functions[name], made[name], case, swizzle)
    cupy.cuda.Device().synchronize()


def _launch_product(cupy: Any, function: Any, made: Any, case: Wgmma, swizzle: int) -> None:
    sides = ((0, 64, case.mn_major[0]), (8192, case.columns, case.mn_major[1]))
    da, db = (descriptor(start, swizzle, rows, 2, mn) for start, rows, mn in sides)
    zeros = cupy.zeros(1 << 16, np.uint8)
    tensors = {"da": cupy.asarray(np.array([da])), "db": cupy.asarray(np.array([db]))}
    names = [t.name for t in made.contract.tensors]
    arguments = [tensors.get(n, zeros) for n in names]
    function((1,), (128,), (*arguments, *[np.int64(1)] * len(names)))


def count(out: Path) -> None:
    """Run `launch` under ncu and write one row per launch."""
    command = [
        "ncu",
        "--csv",
        "--page",
        "raw",
        "--metrics",
        ",".join(METRICS),
        "--target-processes",
        "all",
    ]
    command += [sys.executable, "-W", "ignore", "-m", "tests.gpu.matrix_counts", "launch"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    rows = [r for r in csv.DictReader(lines) if r["ID"]]
    named = [*launches(), *((f"wgmma {n}", "") for n in products())]
    kernels = [r for r in rows if r["Kernel Name"] in moves() or r["Kernel Name"] == "kern"]
    if len(kernels) != len(named):
        raise RuntimeError(
            f"{len(kernels)} of {len(named)} launches: {done.stdout[-800:]} {done.stderr[-800:]}"
        )
    with out.open("w") as file:
        for (name, pattern), row in zip(named, kernels, strict=True):
            counts = {m: int(float(row[m].replace(",", ""))) for m in METRICS if m in row}
            file.write(json.dumps({"kernel": name, "pattern": pattern, **counts}) + "\n")
    print(f"{len(named)} launches")


if __name__ == "__main__":
    if sys.argv[1] == "launch":
        with TemporaryDirectory() as made:
            launch(Path(made))
    else:
        count(Path(sys.argv[2]))
