"""One call under Nsight Compute: the hardware's counts per launch and per line of kernel text."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from phobos_nb.cuda import ncu, nvrtc
from phobos_nb.cuda.emit.source import CudaSource
from phobos_nb.cuda.sass import Instruction, disassemble, instructions
from phobos_nb.cuda.stored_call import StoredCall
from phobos_nb.source import Source
from phobos_nb.target import Target


@dataclass(frozen=True)
class Measured:
    """A launch as the GPU ran it, sums over warps.

    counts: by the names of `ncu.METRICS`, with "barriers", "sectors", "requests" and
    "shared_loads_cost" from the source page. lines: line of the kernel's text -> counts by the names of
    `ncu.COLUMNS` and `FAMILIES`; line 0 is code without a line.
    """

    counts: Mapping[str, int]
    lines: Mapping[int, Mapping[str, int]]


def measure(call: StoredCall, report: Path) -> list[Measured]:
    """Make a call once in a process under ncu, leaving ncu's own report in a file.

    Raises PhobosError PH608 (no ncu), PH609 (no permission), PH610 (no report), PH602 (no nvdisasm).
    """
    tool = ncu.find_ncu()
    stored = report.with_suffix(".call")
    call.save(stored)
    try:
        ncu.record(tool, report, runner([stored]), environment())
    finally:
        stored.unlink()
    kernels = ncu.read_pages(ncu.page(tool, report, "raw"), ncu.page(tool, report, "source"))
    return [
        by_line(kernel, instructions(disassemble(code)), printed_file(report, number).name)
        for number, (kernel, code) in enumerate(zip(kernels, call.code, strict=True))
    ]


def runner(calls: Sequence[Path]) -> list[str]:
    """The command that makes stored calls."""
    return [sys.executable, "-m", "phobos_nb.cuda.profile_run", *map(str, calls)]


def environment() -> dict[str, str]:
    """The environment of this process, with this package where the child finds it."""
    here = str(Path(__file__).parents[2])
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{here}{os.pathsep}{known}" if known else here}


def by_line(kernel: ncu.KernelCounts, code: Sequence[Instruction], printed: str) -> Measured:
    """Add the counts of the machine instructions up by the line that each came from.

    printed: the name of the printed CUDA, whose own lines are nobody's line of kernel text.
    """
    at = {i.address: i.line for i in code if Path(i.file).name != printed}
    lines: dict[int, dict[str, int]] = {}
    for row in kernel.sass:
        counts = lines.setdefault(at.get(row.address, 0), {})
        for name, count in {**row.counts, **_by_family(row)}.items():
            counts[name] = counts.get(name, 0) + count
    names = ("barriers", "sectors", "requests", "shared_loads_cost")
    whole = {n: sum(c.get(n, 0) for c in lines.values()) for n in names}
    return Measured({**kernel.counts, **whole}, lines)


FAMILIES = {
    "BAR": ("barriers", ""),
    "LDS": ("shared_loads", "shared_wavefronts"),
    "LDSM": ("shared_loads", "shared_wavefronts"),
    "STS": ("shared_stores", "shared_wavefronts"),
    "LDG": ("global_loads", "sectors"),
    "LDGSTS": ("global_loads", "sectors"),
    "STG": ("global_stores", "sectors"),
}
"""Opcodes without modifiers -> our name of how often they ran; what they cost, as NAME_cost.

"blank_requests" are those of instructions for which ncu's page has no sectors: of some 16-byte copies.
"""


def _by_family(row: ncu.SassCounts) -> dict[str, int]:
    """How often an instruction ran and what it cost, by its kind; nothing of those that never run."""
    name, cost = FAMILIES.get(opcode(row.text).split(".")[0], ("", ""))
    if not name or row.text.startswith("@!PT"):
        return {}
    found, paid = {name: row.counts.get("instructions", 0)}, row.counts.get(cost, 0)
    if cost == "sectors" and not paid:
        found["blank_requests"] = row.counts.get("requests", 0)
    return {**found, f"{name}_cost": paid} if cost else found


def opcode(text: str) -> str:
    """The opcode of a machine instruction with its modifiers, such as BAR.SYNC, without a predicate."""
    words = text.split()
    return words[1] if words and words[0].startswith("@") and len(words) > 1 else (words or [""])[0]


def printed_file(report: Path, number: int) -> Path:
    """Where the printed CUDA of a launch lies beside a report, for Nsight Compute's window."""
    return report.with_name(f"{report.stem}{f'_{number}' if number else ''}.cu")


def write_source(source: Source, path: Path) -> None:
    """Write a kernel's text so that the lines of the file have the numbers that its reader sees."""
    path.write_text("\n" * (source.first_line - 1) + source.text, "utf-8")


def compile_with_files(
    cuda: CudaSource, target: Target, source: Source, file: Path, printed: Path
) -> bytes:
    """The cubin of printed CUDA whose line tables name real files.

    file: that of the kernel's text. printed: where the CUDA is written, for the lines of its helpers.
    """
    named = cuda.naming(source.name, str(file.resolve()))
    printed.write_text(named, "utf-8")
    return nvrtc.compile(named, target.nvrtc_arch, str(printed.resolve())).cubin
