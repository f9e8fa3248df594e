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

    counts: by the names of `ncu.METRICS`, with "barriers", "sectors" and "requests" from the source
    page. lines: line of the kernel's text -> counts by the names of `ncu.COLUMNS` and "barriers"; line 0
    is code without a line.
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
    entries = [x.contract.entry for x in call.plan.launches]
    return [
        by_line(kernel, instructions(disassemble(code)), printed_name(entry))
        for kernel, code, entry in zip(kernels, call.code, entries, strict=True)
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
        executed = row.counts.get("instructions", 0)
        barrier = executed if is_barrier(row.text) else 0
        for name, count in {**row.counts, "barriers": barrier}.items():
            counts[name] = counts.get(name, 0) + count
    whole = {n: sum(c.get(n, 0) for c in lines.values()) for n in ("barriers", "sectors", "requests")}
    return Measured({**kernel.counts, **whole}, lines)


def printed_name(entry: str) -> str:
    """What NVRTC is told that the printed CUDA of a kernel is called."""
    return f"{entry}.cu"


def is_barrier(text: str) -> bool:
    """Whether a machine instruction is a CTA barrier such as BAR.SYNC, under a predicate or not."""
    words = text.split()
    opcode = words[1] if words and words[0].startswith("@") and len(words) > 1 else (words or [""])[0]
    return opcode.startswith("BAR.")


def write_source(source: Source, path: Path) -> None:
    """Write a kernel's text so that the lines of the file have the numbers that its reader sees."""
    path.write_text("\n" * (source.first_line - 1) + source.text, "utf-8")


def compile_with_file(cuda: CudaSource, target: Target, source: Source, file: Path) -> bytes:
    """The cubin of printed CUDA whose `#line` directives name a file instead of the kernel's text."""
    named = cuda.naming(source.name, str(file.resolve()))
    return nvrtc.compile(named, target.nvrtc_arch, printed_name(cuda.entry)).cubin
