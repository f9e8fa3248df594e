"""Nsight Compute's command line: finding it, running it, reading what it prints."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from phobos_nb.diagnostics import Diagnostic, PhobosError

METRICS = {
    "instructions": "smsp__inst_executed.sum",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_atomic_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "global_async_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
    "global_atomic_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "global_reduction_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_async_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts.sum",
    "global_atomic_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "global_reduction_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "l2_atomic_sectors": "lts__t_sectors_op_atom.sum",
    "l2_reduction_sectors": "lts__t_sectors_op_red.sum",
}
"""Our names of the hardware's counters, over all SMs; not every GPU has all of them."""

COLUMNS = {
    "instructions": ("# Instructions Executed", "Instructions Executed"),
    "shared_wavefronts": ("L1 Wavefronts Shared",),
    "fewest_shared_wavefronts": ("L1 Wavefronts Shared Ideal",),
    "sectors": ("L2 Theoretical Sectors Global",),
    "fewest_sectors": ("L2 Theoretical Sectors Global Ideal",),
    "requests": ("L1 Tag Requests Global",),
}
"""Our names of the source page's columns; what ncu calls them, newest first."""

INSTRUCTION = 16
"""Bytes of a machine instruction from compute capability 7.0 on (CUDA Binary Utilities)."""

PLACES = (
    "/usr/local/cuda/bin/ncu",
    "/opt/nvidia/nsight-compute/*/ncu",
    "C:/Program Files/NVIDIA Corporation/Nsight Compute*/ncu.bat",
)
"""Where installers put it, for when it is not on PATH."""


@dataclass(frozen=True)
class SassCounts:
    """What one machine instruction did in a launch: byte address in the kernel, text, sums over warps.

    counts: by the names of `COLUMNS`; those that this version of ncu does not print are left out.
    """

    address: int
    text: str
    counts: Mapping[str, int]


@dataclass(frozen=True)
class KernelCounts:
    """One launch as ncu saw it. counts: by the names of `METRICS`; a counter it lacks is left out."""

    name: str
    counts: Mapping[str, int]
    sass: tuple[SassCounts, ...] = ()


def find_ncu() -> Path:
    """Nsight Compute's command line tool; PhobosError PH608 with what to install when there is none."""
    found = shutil.which("ncu")
    if found:
        return Path(found)
    roots = [os.environ[n] for n in ("CUDA_PATH", "CUDA_HOME") if os.environ.get(n)]
    for pattern in (*(f"{root}/bin/ncu" for root in roots), *PLACES):
        path = Path(pattern)
        matches = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
        if matches:
            return matches[-1]
    raise PhobosError([Diagnostic("PH608", MISSING, stage="profile", help=INSTALL)])


MISSING = (
    "Nsight Compute's ncu was not found: not on PATH, not in CUDA_PATH, not where installers put it"
)
INSTALL = (
    "it comes with the CUDA toolkit, or alone: `apt install cuda-nsight-compute-13-0`, "
    "`conda install -c nvidia nsight-compute`, https://developer.nvidia.com/nsight-compute"
)


def record(tool: Path, report: Path, command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run a program under ncu and keep its report; clocks stay as they are.

    Raises PhobosError PH609 where the driver lets only administrators read the counters, PH610 when ncu
    or the program failed.
    """
    report.unlink(missing_ok=True)
    options = [
        *("--clock-control", "none", "--section", "SourceCounters", "--import-source", "yes"),
        *("--metrics", ",".join(supported(tool)), "--force-overwrite", "--export", str(report)),
    ]
    ran = _run([str(tool), *options, *command], environment)
    if ran.returncode != 0 or not report.exists():
        raise failure(ran.stdout + ran.stderr)


@cache
def supported(tool: Path) -> tuple[str, ...]:
    """Those of `METRICS` that the GPU here has; ncu refuses a run that asks for another."""
    lines = [line.split() for line in _run([str(tool), "--query-metrics"]).stdout.splitlines()]
    here = {words[0] for words in lines if words}
    found = tuple(m for m in METRICS.values() if m.removesuffix(".sum") in here)
    return found or tuple(METRICS.values())


def _run(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    given = None if environment is None else dict(environment)
    return subprocess.run(
        command, capture_output=True, text=True, errors="replace", env=given, check=False
    )


def failure(said: str) -> PhobosError:
    """The error for a run of ncu that gave no report, from what it printed."""
    if "ERR_NVGPUCTRPERM" in said:
        return PhobosError([Diagnostic("PH609", FORBIDDEN, stage="profile", help=PERMIT)])
    kept = [line for line in said.strip().splitlines() if not line.startswith("==PROF==")][-12:]
    message = "Nsight Compute made no report: " + "\n".join(kept)
    return PhobosError([Diagnostic("PH610", message, stage="profile", help=OTHER)])


FORBIDDEN = "the driver lets only administrators read the GPU's counters (ERR_NVGPUCTRPERM)"
PERMIT = (
    "Linux: sudo sh -c 'echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 > "
    "/etc/modprobe.d/nvidia-profiler.conf', then restart (Debian, Ubuntu: sudo update-initramfs -u "
    "before); in a container: --cap-add=SYS_ADMIN; Windows: NVIDIA Control Panel, Desktop, Enable "
    "Developer Settings, Manage GPU Performance Counters; or run Jupyter as an administrator. "
    "https://developer.nvidia.com/ERR_NVGPUCTRPERM. On a machine where none of that is yours to change, "
    "`.simulate(...)` counts without a GPU"
)
OTHER = "`.simulate(...)` counts the same without a GPU"


def page(tool: Path, report: Path, name: str) -> str:
    """A page of a report ("raw" or "source", the latter per machine instruction) as CSV text."""
    options = ["--csv", "--print-units", "base", "--page", name]
    if name == "source":
        options += ["--print-source", "sass"]
    ran = _run([str(tool), "--import", str(report), *options])
    if ran.returncode != 0:
        raise failure(ran.stdout + ran.stderr)
    return ran.stdout


def read_pages(raw: str, source: str) -> list[KernelCounts]:
    """The launches of a report from its two pages, in order."""
    kernels, sass = read_raw(raw), read_source(source)
    if len(sass) != len(kernels):
        raise ValueError(f"{len(kernels)} launches on the raw page, {len(sass)} on the source page")
    return [
        KernelCounts(k.name, k.counts, instructions)
        for k, instructions in zip(kernels, sass, strict=True)
    ]


def read_raw(text: str) -> list[KernelCounts]:
    """The counters per launch from the raw page: a row of names, a row of units, a row per launch."""
    rows = [row for row in csv.reader(io.StringIO(text)) if len(row) > 1]
    names = next(i for i, row in enumerate(rows) if "Kernel Name" in row)
    found: list[KernelCounts] = []
    for row in rows[names + 2 :]:
        values = dict(zip(rows[names], row, strict=False))
        counts = {ours: values[theirs] for ours, theirs in METRICS.items() if values.get(theirs)}
        found.append(
            KernelCounts(values["Kernel Name"], {n: number(v) for n, v in counts.items() if known(v)})
        )
    return found


def read_source(text: str) -> list[tuple[SassCounts, ...]]:
    """The machine instructions per launch from the source page."""
    found: list[list[SassCounts]] = []
    header: list[str] = []
    for row in csv.reader(io.StringIO(text)):
        if "Address" in row and "Source" in row:
            header = row
            found.append([])
        elif header and len(row) >= len(header):
            values = dict(zip(header, row, strict=False))
            address = len(found[-1]) * INSTRUCTION
            found[-1].append(SassCounts(address, values["Source"].strip(), _columns(values)))
    return [tuple(instructions) for instructions in found]


def _columns(values: Mapping[str, str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for ours, names in COLUMNS.items():
        theirs = next((n for n in names if n in values), None)
        if theirs is not None:
            counts[ours] = number(values[theirs]) if known(values[theirs]) else 0
    return counts


def known(cell: str) -> bool:
    """Whether a cell holds a number."""
    return cell.strip() not in ("", "-", "n/a", "nan")


def number(cell: str) -> int:
    """The whole number in a cell; ncu writes some with a thousands separator or a fraction."""
    return round(float(cell.replace(",", "")))
