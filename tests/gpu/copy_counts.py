"""What the counters say of asynchronous copies and wide accesses: one launch per address pattern.

    python -m tests.gpu.copy_counts count OUT.jsonl       # on an H200 with ncu

Each kernel is one warp and one instruction, behind loads of every lane's addresses and of whether it
takes part. `cp.async` of 16 bytes comes through the first cache (ca) and past it (cg).
"""

from __future__ import annotations

import contextlib
import csv
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from phobos_nb.cuda import nvrtc

METRICS = {
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "reduction_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
}
SECONDS = 70
"""For all launches."""

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
    add = 'asm volatile("red.global.add.u32 [%0], %1;" :: "l"(g), "r"(a) : "memory");'
    found: dict[str, tuple[int, str]] = {"red4": (4, f"if (on) {add}")}
    for cache, size in (("cg", 16), ("ca", 4), ("ca", 8), ("ca", 16)):
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


def global_patterns(size: int) -> dict[str, list[int]]:
    """Byte offsets of the 32 lanes in global memory; of rows the pitch and the start are told."""
    lanes = range(32)
    runs = {f"run+{start}": [start + k * size for k in lanes] for start in (0, 8, 16, 32, 48, 64)}
    rows = {
        f"{rows} rows of {pitch}+{start}": [
            start + k * rows // 32 * pitch + k % (32 // rows) * size for k in lanes
        ]
        for rows, pitch, start in (
            *((2, 1024, 0), (2, 1040, 16), (4, 1024, 0), (4, 1040, 0), (4, 1024, 16)),
            *((8, 1024, 0), (8, 1040, 16), (16, 1024, 16), (32, 1024, 0), (32, 1040, 16)),
        )
    }
    others = {
        "same": [0] * 32,
        "pairs": [k // 2 * size for k in lanes],
        "reversed": [(31 - k) * size for k in lanes],
        "strided": [k * 2 * size for k in lanes],
    }
    return {**runs, **rows, **others, **REPEATED}


REPEATED = {
    "quads": [k // 4 * 4 for k in range(32)],
    "modulo 16": [k % 16 * 4 for k in range(32)],
    "modulo 4": [k % 4 * 4 for k in range(32)],
    "two alike": [0, 0, *(k * 4 for k in range(2, 32))],
    "two alike, last": [*(k * 4 for k in range(31)), 0],
    "two of 2 sectors": [0, 0, 32, 32, *(128 * k for k in range(1, 29))],
    **{
        f"random {words}, {seed}": (np.random.default_rng(seed).integers(0, words, 32) * 4).tolist()
        for words in (32, 64, 256)
        for seed in range(4)
    },
}
"""Addresses that several lanes share."""


def patterns_of(name: str, size: int) -> list[str]:
    """The global patterns of a kernel's launches that use all lanes."""
    if name.startswith("red"):
        return ["run+0", "run+8", "same", "pairs", *REPEATED]
    if name.startswith(("ld", "st")):
        return list(FEW)
    return [p for p in global_patterns(size) if p not in REPEATED and not (size == 16 and "+8" in p)]


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


FEW = ("run+16", "8 rows of 1040+16", "32 rows of 1040+16")
CROSSED = ("run+0", "4 rows of 1024+0")


def launches() -> Iterator[tuple[str, str, str, str]]:
    """Kernel, global pattern, shared pattern and mask of every launch, in order."""
    for name, (size, _) in kernels().items():
        if name.endswith("_zeros"):
            yield from ((name, "run+16", "lane", mask) for mask in ("half", "none"))
            continue
        yield from ((name, pattern, "lane", "all") for pattern in patterns_of(name, size))
        if name.startswith("c"):
            yield from ((name, "run+16", "lane", mask) for mask in list(MASKS)[1:])
        if name in ("ca4", "ca8"):
            places = list(shared_patterns(size))[1:]
            yield from ((name, pattern, place, "all") for pattern in CROSSED for place in places)


def launch(folder: Path) -> None:
    """Launch everything once, machine code in `folder`; ncu watches."""
    import cupy

    texts = {n: KERNEL.format(name=n, text=text) for n, (_, text) in kernels().items()}
    codes = nvrtc.compile_all([nvrtc.Job(t, "sm_90a") for t in texts.values()], workers=8)
    functions = {}
    for name, result in zip(texts, codes, strict=True):
        path = folder / f"{name}.cubin"
        path.write_bytes(result.cubin)
        functions[name] = cupy.RawModule(path=str(path)).get_function(name)
    memory = cupy.zeros(1 << 16, np.uint8)
    known = {}
    for name, pattern, place, mask in launches():
        size = kernels()[name][0]
        lists = global_patterns(size)[pattern], shared_patterns(size)[place], MASKS[mask]
        for values in lists:
            known.setdefault(tuple(values), cupy.asarray(np.array(values, np.int32)))
        functions[name]((1,), (32,), (memory, *(known[tuple(v)] for v in lists)))
    cupy.cuda.Device().synchronize()


def count(out: Path) -> None:
    """Run `launch` under ncu and write one row per launch, as far as it came in the time."""
    options = ["--csv", "--page", "raw", "--metrics", ",".join(METRICS.values())]
    options += ["--clock-control", "none", "--target-processes", "all", "-k", "regex:^(c[ag]|ld|st|red)"]
    command = ["ncu", *options, sys.executable, "-W", "ignore", "-m", "tests.gpu.copy_counts", "launch"]
    printed = out.with_suffix(".csv")
    with printed.open("w") as file, contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False, timeout=SECONDS)
    lines = [line for line in printed.read_text("utf-8").splitlines() if line.startswith('"')]
    rows = [r for r in csv.DictReader(lines) if r["ID"] and r["Kernel Name"] in kernels()]
    named = list(launches())
    with out.open("w") as file:
        for (name, *patterns), row in zip(named, rows, strict=False):
            if row["Kernel Name"] != name:
                raise RuntimeError(f"{row['Kernel Name']} where {name} was launched")
            keys = dict(zip(("global", "shared", "mask"), patterns, strict=True))
            file.write(json.dumps({"kernel": name, **keys, **_counts(row)}) + "\n")
    print(f"{len(rows)} of {len(named)} launches")


def _counts(row: Mapping[str, str]) -> dict[str, int]:
    return {ours: round(float(row[m].replace(",", ""))) for ours, m in METRICS.items() if row.get(m)}


if __name__ == "__main__":
    if sys.argv[1] == "launch":
        with TemporaryDirectory() as made:
            launch(Path(made))
    else:
        count(Path(sys.argv[2]))
