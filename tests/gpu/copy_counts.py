"""What the counters say of asynchronous copies and wide accesses: one launch per address pattern.

    python -m tests.gpu.copy_counts count OUT.jsonl       # on an H200 with ncu

Each kernel is one warp and one instruction, behind loads of every lane's addresses and of whether it
takes part. `cp.async` of 16 bytes comes through the first cache (ca) and past it (cg).
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from phobos_nb.cuda import nvrtc

METRICS = {
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "bank_writes": "l1tex__data_bank_writes.sum",
    "pipe_wavefronts": "l1tex__data_pipe_lsu_wavefronts.sum",
}
KERNEL = """
extern "C" __global__ void
{name}(unsigned char* global, const int* from, const int* to, const int* live) {{
  __shared__ __align__(1024) unsigned char shared[40960];
  const unsigned s = (unsigned)__cvta_generic_to_shared(shared) + to[threadIdx.x];
  unsigned char* const g = global + from[threadIdx.x];
  const int on = live[threadIdx.x];
  unsigned a = 1, b = 2, c = 3, d = 4;
  {text}
  if ((a ^ b ^ c ^ d) == 0x12345678u) global[0] = 1;
}}"""
VECTOR = {8: (".v2", "{{{0}, {1}}}"), 16: (".v4", "{{{0}, {1}, {2}, {3}}}")}


def kernels() -> dict[str, tuple[int, str]]:
    """Bytes per lane and text of the instruction of each kernel, by its name."""
    found: dict[str, tuple[int, str]] = {}
    for cache, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        copy = f"cp.async.{cache}.shared.global [%0], [%1], {size}"
        wait = 'asm volatile("cp.async.wait_all;" ::: "memory");'
        plain = f'if (on) asm volatile("{copy};" :: "r"(s), "l"(g) : "memory"); {wait}'
        zeros = f'asm volatile("{copy}, %2;" :: "r"(s), "l"(g), "r"(on ? {size} : 0) : "memory"); {wait}'
        found |= {f"{cache}{size}": (size, plain), f"{cache}{size}_zeros": (size, zeros)}
    for size, (many, slots) in VECTOR.items():
        names, words = "abcd"[: size // 4], slots.format("%0", "%1", "%2", "%3")
        outputs = ", ".join(f'"=r"({n})' for n in names)
        inputs = ", ".join(f'"r"({n})' for n in names)
        load = f'asm volatile("ld.global{many}.b32 {words}, [%{size // 4}];" : {outputs} : "l"(g));'
        store = f'asm volatile("st.global{many}.b32 [%{size // 4}], {words};" :: {inputs}, "l"(g));'
        found |= {f"ld{size}": (size, f"if (on) {load}"), f"st{size}": (size, f"if (on) {store}")}
    return found


def global_patterns(size: int) -> Iterator[tuple[str, list[int]]]:
    """Byte offsets of the 32 lanes in global memory."""
    lanes = range(32)
    for start in (0, 4, 8, 16, 32, 48, 64, 112):
        if start % size == 0:
            yield f"run+{start}", [start + k * size for k in lanes]
    for rows in (2, 4, 8, 32):
        width = 32 // rows
        for pitch in (1024, 1024 + 16, 1024 + 64 + 16):
            for start in (0, 16):
                name = f"{rows} rows of {pitch}+{start}"
                yield name, [start + k // width * pitch + k % width * size for k in lanes]
    yield "same", [0] * 32
    yield "pairs", [k // 2 * size for k in lanes]
    yield "reversed", [(31 - k) * size for k in lanes]
    yield "strided", [k * 2 * size for k in lanes]


def shared_patterns(size: int) -> dict[str, list[int]]:
    """Byte offsets of the 32 lanes in shared memory."""
    lanes = range(32)
    return {
        "lane": [k * size for k in lanes],
        "padded rows": [k // 8 * (9 * size + 512) + k % 8 * size for k in lanes],
        "columns": [k % 8 * 528 + k // 8 * size for k in lanes],
        "twice": [k * 2 * size for k in lanes],
        "one bank": [k * 128 for k in lanes],
        "swizzled": [(k // 8) * 8 * size + (k % 8 ^ k // 8) * size for k in lanes],
    }


MASKS = {
    "all": [1] * 32,
    "first": [1] + [0] * 31,
    "half": [int(k < 16) for k in range(32)],
    "odd": [k % 2 for k in range(32)],
    "quarters": [int(k % 8 < 3) for k in range(32)],
    "none": [0] * 32,
}


def launches() -> Iterator[tuple[str, str, str, str]]:
    """Kernel, global pattern, shared pattern and mask of every launch, in order."""
    for name, (size, _) in kernels().items():
        runs = ("run+0", "run+16", "4 rows of 1040+0")
        if name.endswith("_zeros"):
            yield from ((name, "run+16", "lane", mask) for mask in MASKS)
            continue
        yield from ((name, pattern, "lane", "all") for pattern, _ in global_patterns(size))
        if name.startswith("c"):
            yield from ((name, pattern, "lane", mask) for pattern in runs for mask in list(MASKS)[1:])
            for pattern in (*runs, "8 rows of 1024+0"):
                yield from ((name, pattern, s, "all") for s in list(shared_patterns(size))[1:])


def launch() -> None:
    """Launch everything once; ncu watches."""
    import cupy

    texts = {n: KERNEL.format(name=n, text=text) for n, (_, text) in kernels().items()}
    codes = nvrtc.compile_all([nvrtc.Job(t, "sm_90a") for t in texts.values()], workers=8)
    functions = {}
    for name, result in zip(texts, codes, strict=True):
        path = Path(f"/tmp/copy_counts_{name}.cubin")
        path.write_bytes(result.cubin)
        functions[name] = cupy.RawModule(path=str(path)).get_function(name)
    memory = cupy.zeros(1 << 16, np.uint8)
    known = {}
    for name, pattern, place, mask in launches():
        size = kernels()[name][0]
        lists = dict(global_patterns(size))[pattern], shared_patterns(size)[place], MASKS[mask]
        for values in lists:
            known.setdefault(tuple(values), cupy.asarray(np.array(values, np.int32)))
        functions[name]((1,), (32,), (memory, *(known[tuple(v)] for v in lists)))
    cupy.cuda.Device().synchronize()


def count(out: Path) -> None:
    """Run `launch` under ncu and write one row per launch."""
    options = ["--csv", "--page", "raw", "--metrics", ",".join(METRICS.values())]
    options += [
        "--clock-control",
        "none",
        "--target-processes",
        "all",
        "-k",
        "regex:^(c[ag]|ld|st)",
    ]
    command = ["ncu", *options, sys.executable, "-W", "ignore", "-m", "tests.gpu.copy_counts", "launch"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    rows = [r for r in csv.DictReader(lines) if r["ID"] and r["Kernel Name"] in kernels()]
    named = list(launches())
    if [r["Kernel Name"] for r in rows] != [n for n, *_ in named]:
        raise RuntimeError(f"{len(rows)} of {len(named)}: {done.stdout[-800:]} {done.stderr[-800:]}")
    with out.open("w") as file:
        for (name, *patterns), row in zip(named, rows, strict=True):
            keys = dict(zip(("global", "shared", "mask"), patterns, strict=True))
            file.write(json.dumps({"kernel": name, **keys, **_counts(row)}) + "\n")
    print(f"{len(named)} launches")


def _counts(row: Mapping[str, str]) -> dict[str, int]:
    return {ours: round(float(row[m].replace(",", ""))) for ours, m in METRICS.items() if row.get(m)}


if __name__ == "__main__":
    if sys.argv[1] == "launch":
        launch()
    else:
        count(Path(sys.argv[2]))
