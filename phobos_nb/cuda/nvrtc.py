"""CUDA C++ to PTX and cubin with NVRTC; needs the library, but no GPU and no driver.

The library is loaded on the first compilation. NVRTC releases the GIL, so threads compile in parallel.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.source import Source, Span

OPTIONS = (
    "--std=c++17",
    "--fmad=false",  # products and sums fuse only where the thread MLIR says so
    "-lineinfo",
    "--ptxas-options=-v",  # registers and spills in the log
    "--diag-suppress=177,550",  # a name of the kernel that is never used is no mistake here
)
"""The options of every compilation."""


@dataclass(frozen=True)
class NvrtcResult:
    """What NVRTC made: PTX text, the cubin, its log (ptxas' report in it), and how long it took."""

    ptx: str
    cubin: bytes
    log: str
    arch: str
    version: tuple[int, int]
    seconds: float = 0.0


@dataclass(frozen=True)
class Job:
    """One compilation; the fields are those of `compile`."""

    text: str
    arch: str
    name: str = "kernel.cu"
    options: tuple[str, ...] = ()
    source: Source | None = field(default=None, compare=False)


def compile(
    text: str,
    arch: str,
    name: str = "kernel.cu",
    options: Sequence[str] = (),
    source: Source | None = None,
) -> NvrtcResult:
    """Compile for one real architecture such as `sm_90a`; safe to call from several threads.

    text: CUDA C++; name: what messages call it; source: the kernel text that its `#line` directives
    name, for the places of errors. Raises PhobosError PH600 when NVRTC or ptxas refuses the text, and
    PH601 when the library is missing.
    """
    started = time.perf_counter()
    nvrtc = library()
    program = _checked(nvrtc, nvrtc.nvrtcCreateProgram(text.encode(), name.encode(), 0, [], []))
    try:
        flags = [f"--gpu-architecture={arch}", *OPTIONS, *options]
        encoded = [flag.encode() for flag in flags]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        log = _text(nvrtc, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        if int(status) != 0:
            raise PhobosError(_diagnostics(log, arch, source), source)
        ptx = _text(nvrtc, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
        cubin = _bytes(nvrtc, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return NvrtcResult(ptx, cubin, log, arch, version(), time.perf_counter() - started)


def compile_all(jobs: Sequence[Job], workers: int = 8) -> list[NvrtcResult | PhobosError]:
    """Compile many at once, in the order given; a failed one is its error, the others go on."""

    def run(job: Job) -> NvrtcResult | PhobosError:
        try:
            return compile(job.text, job.arch, job.name, job.options, job.source)
        except PhobosError as error:
            return error

    with ThreadPoolExecutor(max_workers=max(1, min(workers, len(jobs) or 1))) as pool:
        return list(pool.map(run, jobs))


@cache
def version() -> tuple[int, int]:
    """The version of the library, such as (13, 0)."""
    nvrtc = library()
    status, major, minor = nvrtc.nvrtcVersion()
    if int(status) != 0:
        raise RuntimeError(f"nvrtcVersion: {status}")
    return int(major), int(minor)


@cache
def library() -> Any:
    """The module `cuda.bindings.nvrtc` with its library loaded; PhobosError PH601 when it is missing."""
    try:
        nvrtc = import_module("cuda.bindings.nvrtc")
        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError, OSError) as error:
        raise PhobosError([_missing(error)]) from None
    return nvrtc


def _missing(error: Exception) -> Diagnostic:
    looked = f"{type(error).__name__}: {error}".strip().splitlines()
    return Diagnostic(
        "PH601",
        "NVRTC was not found, so there is no PTX and no cubin; everything before them works. "
        "Looked for the Python module cuda.bindings.nvrtc and, through it, the library libnvrtc "
        f"(Windows: nvrtc64_*.dll) in site-packages, CUDA_PATH and the system's paths: {looked[0]}",
        stage="nvrtc",
        help="pip install 'phobos_nb[nvrtc]', "
        "that is 'cuda-bindings>=13,<14' 'nvidia-cuda-nvrtc>=13,<14' "
        "(with a driver older than 580: 'cuda-bindings>=12.6,<13' nvidia-cuda-nvrtc-cu12). "
        "There is none for macOS.",
    )


def _checked(nvrtc: Any, answer: tuple[Any, Any]) -> Any:
    status, value = answer
    if int(status) != 0:
        _, text = nvrtc.nvrtcGetErrorString(status)
        raise RuntimeError(f"NVRTC: {bytes(text).decode()}")
    return value


def _bytes(nvrtc: Any, size: Callable[..., Any], get: Callable[..., Any], program: Any) -> bytes:
    buffer = bytearray(_checked(nvrtc, size(program)))
    (status,) = get(program, buffer)
    if int(status) != 0:
        raise RuntimeError(f"NVRTC: {status}")
    return bytes(buffer)


def _text(nvrtc: Any, size: Callable[..., Any], get: Callable[..., Any], program: Any) -> str:
    return _bytes(nvrtc, size, get, program).rstrip(b"\0").decode(errors="replace")


ERROR = re.compile(r"^(?P<name>.*)\((?P<line>\d+)\): (?:catastrophic )?error:? ?(?P<message>.*)$", re.M)
"""An error line of NVRTC's front end; ptxas' own errors name no line of the text."""


def _diagnostics(log: str, arch: str, source: Source | None) -> list[Diagnostic]:
    """The errors in a log, the first of each line of kernel text that its `#line` named.

    One fault in a line of a kernel may be refused in many lines of the CUDA printed for it.
    """
    help = "a fault of the code generator, not of the kernel; `.cuda` shows the text that was refused"
    found: dict[tuple[str, str], Diagnostic] = {}
    for match in ERROR.finditer(log):
        message = f"the generated CUDA C++ was refused for {arch}: {match['message'].strip()}"
        span = _span(source, match["name"], int(match["line"]))
        found.setdefault(
            (match["name"], match["line"]), Diagnostic("PH600", message, span, stage="nvrtc", help=help)
        )
    whole = f"the generated CUDA C++ was refused for {arch}: {log.strip()}"
    return list(found.values()) or [Diagnostic("PH600", whole, stage="nvrtc", help=help)]


def _span(source: Source | None, name: str, line: int) -> Span | None:
    """The whole line of the kernel text, without its indent; None when the error is elsewhere."""
    if source is None or name not in (source.name, source.table_name):
        return None
    row = line - source.first_line
    if not 0 <= row < len(source.lines):
        return None
    text = source.lines[row]
    start = source.starts[row]
    return Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))
