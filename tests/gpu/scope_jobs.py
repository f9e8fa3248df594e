"""What `scope` runs on a GPU: whole kernels to count, and kernels with one synchronisation deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb.arguments.match import name_arguments
from phobos_nb.compilation import stages
from phobos_nb.compilation.configuration import resolve
from phobos_nb.compilation.profile import Snapshot, snapshot
from phobos_nb.cuda import nvrtc
from phobos_nb.cuda.stored_call import read_call
from phobos_nb.ir.locations import place_of
from phobos_nb.options import CompileOptions
from phobos_nb.simulate.launch import simulate
from phobos_nb.simulate.records import AccessRecord, SimulationResult
from phobos_nb.target import get
from tests.examples_cases import CASES

COUNTED: tuple[tuple[str, Mapping[str, int], Mapping[str, int]], ...] = (
    ("saxpy_fp32", {"TILE": 256}, {"N": 100_003}),
    ("transpose", {}, {"M": 300, "N": 517}),
    ("gemm_fp32", {"TILE_M": 128, "TILE_N": 128, "TILE_K": 8}, {"M": 256, "N": 256, "K": 64}),
    ("gemm_fp32_any", {}, {"M": 100, "N": 77, "K": 50}),
    ("gemm_fp16tc_fp32acc", {}, {"M": 64, "N": 96, "K": 80}),
    ("gemm_fp16", {}, {"M": 100, "N": 77, "K": 50}),
    ("softmax", {}, {"M": 33, "N": 1000}),
    ("layer_norm", {}, {"M": 33, "N": 1000}),
    ("rms_norm", {}, {"M": 9, "N": 1000}),
    ("flash_attention_fp32", {}, {"H": 3, "NQ": 37, "NK": 53}),
    ("flash_attention_fp16", {}, {"H": 3, "NQ": 37, "NK": 53}),
    ("attention_f32", {}, {"H": 3, "NQ": 37, "NK": 53}),
    ("attention_f32_causal", {}, {"H": 3, "NQ": 37, "NK": 53}),
    ("attention_f16", {}, {"H": 3, "NQ": 37, "NK": 53}),
    ("attention_f16_causal", {}, {"H": 3, "NQ": 37, "NK": 53}),
    ("attention_bf16", {}, {"H": 3, "NQ": 37, "NK": 53}),
    ("attention_bf16_causal", {}, {"H": 3, "NQ": 37, "NK": 53}),
    ("histogram", {}, {"N": 4097}),
    ("matmul_shared", {}, {"M": 67, "N": 53, "K": 41}),
    ("transpose_shared", {}, {"M": 71, "N": 211}),
    ("reduce_shared", {}, {}),
    ("scan", {}, {"M": 37, "N": 53}),
    ("stencil", {}, {"M": 71, "N": 211}),
    ("mandelbrot", {}, {"R": 7, "C": 257}),
    ("varlen_attention", {}, {"N": 131, "H": 2, "B": 3}),
    ("grouped_gemm", {}, {"M": 129, "N": 65, "K": 17, "G": 5, "L": 6}),
    ("segmented_scan", {}, {"N": 700, "L": 3}),
    ("rotary", {}, {"T": 37, "H": 3}),
    ("argmax", {}, {"M": 37, "N": 1003}),
    ("batched_gemm", {}, {"Z": 4, "M": 37, "N": 41, "K": 29}),
    ("linear_attention", {}, {"H": 3, "T": 101}),
)
"""Case, constants and extents; what is left out is the case's first. Every bundled example is here."""

SMALL, DEEP = (1, 3), (2, 13)
"""How many times a case's first extents and its first K; the second takes racecheck minutes in some."""

PLANTED = (
    ("transpose", "sm_90a", 1, DEEP),
    ("softmax", "sm_90a", 2, DEEP),
    ("layer_norm", "sm_90a", 3, DEEP),
    ("gemm_fp32_any", "sm_75", 3, SMALL),
    ("gemm_fp32_any", "sm_90a", 4, SMALL),
    ("gemm_fp32", "sm_90a", 3, DEEP),
    ("flash_attention_fp32", "sm_90a", 3, DEEP),
    ("matmul_shared", "sm_90a", 2, SMALL),
    ("transpose_shared", "sm_90a", 1, DEEP),
    ("reduce_shared", "sm_90a", 2, DEEP),
    ("scan", "sm_90a", 2, DEEP),
    ("gemm_fp16", "sm_90a", 3, SMALL),
    ("attention_f16", "sm_90a", 3, SMALL),
    ("grouped_gemm", "sm_90a", 2, SMALL),
    ("linear_attention", "sm_90a", 3, SMALL),
    ("argmax", "sm_90a", 2, DEEP),
)
"""Case, target, how many of its barriers and waits are deleted, one at a time, and the size."""

SYNCHRONISE = ("gpu.barrier", "nvgpu.device_async_wait")


@dataclass(frozen=True)
class Job:
    """A stored call and what the simulator says of it.

    deleted: the operation left out and its line; empty for a whole kernel. counts: of whole kernels.
    races: what the simulator found, in words. accesses: of whole kernels, one per operation.
    """

    name: str
    case: str
    target: str
    deleted: str
    counts: Mapping[str, int | None]
    lines: Mapping[int, Mapping[str, int | None]]
    races: tuple[str, ...]
    accesses: tuple[Mapping[str, Any], ...] = ()


def write(folder: Path, jobs: list[Job]) -> None:
    """Write the table of jobs."""
    (folder / "jobs.json").write_text(json.dumps([asdict(j) for j in jobs], indent=1), "utf-8")


def read(folder: Path) -> list[dict[str, Any]]:
    """The table of jobs as plain data."""
    return json.loads((folder / "jobs.json").read_text("utf-8"))


def taken(
    name: str,
    chip: str,
    constants: Mapping[str, int],
    extents: Mapping[str, int],
    times: int = 1,
    deeper: int = 1,
) -> Snapshot:
    """A case's call compiled for a target, its first extents taken `times` except those given.

    deeper: how many times its first K, so that loops over K are unrolled and have a remainder.
    """
    case = CASES[name]
    full = {**case.configurations[0], **constants}
    first = case.shapes(full)[0]
    factors = {n: 1 if n in full else deeper if n == "K" else times for n in first}
    shape = {n: extents.get(n, factors[n] * e) for n, e in first.items()}
    arguments = case.arrays(shape, np.random.default_rng(7))
    kernel = case.load(CompileOptions(chip, constants=full))
    grid = case.grid(full, arguments)
    kernel = kernel.for_call((), arguments)
    values = name_arguments(kernel.name, kernel.parameters, (), arguments)
    return snapshot(kernel, values, grid, resolve(kernel.options))


def counted(folder: Path, row: tuple[str, Mapping[str, int], Mapping[str, int]]) -> Job:
    """Store a whole call, of one launch, with the simulator's counts."""
    name, constants, extents = row
    call = taken(name, "sm_90a", constants, extents)
    (launch,) = call.compilation.launches
    call.stored(launch.cubin).save(folder / f"count-{name}.call")
    return counts_of(name, call)


class AnotherKernelError(Exception):
    """The kernel that was counted cannot be made again."""


def recounted(folder: Path, row: tuple[str, Mapping[str, int], Mapping[str, int]]) -> Job:
    """The simulator's counts of a stored call, as it counts now."""
    name, constants, extents = row
    call, stored = taken(name, "sm_90a", constants, extents), read_call(folder / f"count-{name}.call")
    (launch,) = call.compilation.launches
    if stored.code != (launch.cubin,):
        raise AnotherKernelError(f"{name}: the compiler makes another kernel now than the stored one")
    solved = replace(call.call, arrays=dict(stored.arrays))
    return counts_of(name, replace(call, call=solved, memory=stored.regions))


def counts_of(name: str, call: Snapshot) -> Job:
    """What the simulator counts of a call."""
    (launch,) = call.compilation.launches
    contract = launch.contract
    result = simulate(launch.thread_module, contract, call.arguments(), grid=call.call.grid)
    if not result.clean:
        raise RuntimeError(f"{name}: {result}")
    lines = {line.line: line_counts(line) for line in result.lines}
    counts = totals(result, contract.threads // 32)
    accesses = tuple(access_counts(a) for a in result.accesses)
    return Job(f"count-{name}", name, "sm_90a", "", counts, lines, (), accesses)


def access_counts(access: AccessRecord) -> dict[str, Any]:
    """What an operation did, to lay beside machine instructions."""
    place = {"op": access.place.op, "line": access.place.line, "kind": access.kind}
    names = ("space", "bytes_per_lane", "requests", "wavefronts", "sectors", "elements", "masked")
    return place | {name: getattr(access, name) for name in names}


def line_counts(line: Any) -> dict[str, int | None]:
    """What ncu counts per line too."""
    return {"shared_wavefronts": line.wavefronts, "sectors": line.sectors}


def totals(result: SimulationResult, warps: int) -> dict[str, int | None]:
    """The simulator's counts by the names of ncu's."""

    def added(space: str, kinds: tuple[str, ...], what: str) -> int | None:
        found = [getattr(a, what) for a in result.accesses if a.space == space and a.kind in kinds]
        return None if None in found else sum(found)

    return {
        "shared_load_wavefronts": added("shared", ("load", "matrix"), "wavefronts"),
        "shared_store_wavefronts": added("shared", ("store",), "wavefronts"),
        "shared_async_wavefronts": added("shared", ("async",), "counted_wavefronts"),
        "shared_atomic_wavefronts": added("shared", ("atomic",), "wavefronts"),
        "global_load_sectors": added("global", ("load",), "sectors"),
        "global_store_sectors": added("global", ("store",), "sectors"),
        "global_atomic_sectors": added("global", ("atomic",), "sectors"),
        "global_load_requests": added("global", ("load",), "requests"),
        "global_store_requests": added("global", ("store",), "requests"),
        "shared_load_requests": added("shared", ("load", "matrix"), "requests"),
        "shared_store_requests": added("shared", ("store",), "requests"),
        "shared_atomic_requests": added("shared", ("atomic",), "requests"),
        "global_atomic_requests": added("global", ("atomic",), "requests"),
        "barriers": warps * sum(b.executions for b in result.barriers),
    }


def planted(folder: Path, row: tuple[str, str, int, tuple[int, int]]) -> Iterator[Job]:
    """Store a kernel as it is, and with one synchronisation less, each time another; see `taken`."""
    name, chip, most, (times, deeper) = row
    call = taken(name, chip, {}, {}, times=times, deeper=deeper)
    whole = call.compilation.thread_module
    yield mutant(folder, call, f"race-{name}-{chip}-none", "", whole)
    points = [op for op in whole.walk() if op.name in SYNCHRONISE]
    for number, op in enumerate(points[:most]):
        module = whole.clone()
        [o for o in module.walk() if o.name in SYNCHRONISE][number].detach()
        place = place_of(op)
        words = f"{op.name} at line {place.line}" if place else op.name
        yield mutant(folder, call, f"race-{name}-{chip}-{number}", words, module)


def mutant(folder: Path, call: Snapshot, stem: str, deleted: str, module: Any) -> Job:
    """Store a call with the code of a changed module, and simulate it."""
    configuration = call.compilation.configuration
    cuda = stages.cuda(module, configuration)
    code = nvrtc.compile(cuda.text, get(configuration.target.name).nvrtc_arch, "kernel.cu")
    image = code.cubin if configuration.target.name == "sm_90a" else code.ptx.encode()
    call.stored(image).save(folder / f"{stem}.call")
    result = simulate(
        module, call.compilation.contract, call.arguments(), grid=call.call.grid, banks=False
    )
    case, chip = stem.split("-")[1:3]
    found = tuple(f"{r.tensor}: {r}" for r in result.races)
    return Job(stem, case, chip, deleted, {}, {}, found)
