"""Stored kernels in processes of their own, since a fault of one ends its process.

A process is a module called with a folder and the numbers of kernels; it prints a line of JSON for each.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer
from typing import Any

PROCESSES = 4
SECONDS, SECONDS_OF_ONE, HUNG = 60, 10, 124
"""For one process and for one kernel, its process' start included; the exit status of what took longer.
More processes at once wait for each other: 31 contexts took over 24 s on an H200."""


def several(numbers: Sequence[int], one: Callable[[int], Mapping[str, Any]]) -> None:
    """Run kernels one after the other, a line for each; one that does not end, ends all."""
    for k in numbers:
        watch = Timer(SECONDS_OF_ONE, os._exit, (HUNG,))
        watch.daemon = True
        watch.start()
        print(json.dumps(one(k)), flush=True)
        watch.cancel()


def shares(numbers: Sequence[int], parts: int = PROCESSES) -> list[list[int]]:
    """The numbers dealt out."""
    return [list(numbers[first::parts]) for first in range(min(parts, len(numbers)))]


def apart(command: Sequence[str], numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
    """What the processes say of every kernel; `error` for those that ended or stopped theirs."""
    found: dict[int, dict[str, Any]] = {}
    with ThreadPoolExecutor(PROCESSES) as pool:
        for some in pool.map(lambda share: _one_share(command, share), shares(numbers)):
            found |= some
    return found


def _one_share(command: Sequence[str], numbers: list[int]) -> dict[int, dict[str, Any]]:
    """Kernels in one process; after one that faults or hangs the others get another."""
    found: dict[int, dict[str, Any]] = {}
    while numbers:
        code, text = process([sys.executable, "-m", *command, *map(str, numbers)])
        lines = text.strip().splitlines()
        made = [json.loads(x) for x in lines if x.startswith("{")]
        found |= dict(zip(numbers, made, strict=False))
        if len(made) < len(numbers):
            found[numbers[len(made)]] = {"runs": 0, "same": 0, "error": _reason(code, lines)}
        numbers = numbers[len(made) + 1 :]
    return found


def _reason(code: int, lines: list[str]) -> str:
    """Why a process ended early: its last line about an error."""
    if code == HUNG:
        return f"no end within {SECONDS_OF_ONE} s"
    told = [x for x in lines if re.search(r"cuda\w*Error\w|CUDA_ERROR|PhobosError", x)]
    return told[-1].rpartition("CUDARuntimeError: ")[2] if told else f"ended with {code}: {lines[-1:]}"


def process(command: Sequence[str]) -> tuple[int, str]:
    """Exit status and output, also of a process that had to be stopped."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        return HUNG, b"".join(x for x in (late.stdout, late.stderr) if isinstance(x, bytes)).decode()
    return done.returncode, done.stdout + done.stderr


def watched(command: Sequence[str], numbers: Sequence[int]) -> tuple[dict[int, int], str]:
    """The same under racecheck: the exit status of each kernel's process, and the tool's text."""
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    how = [tool, "--tool", "racecheck", "--racecheck-report", "analysis", "--print-limit", "500"]
    parts = shares(numbers)
    with ThreadPoolExecutor(PROCESSES) as pool:
        calls = [[*how, sys.executable, "-m", *command, *map(str, part)] for part in parts]
        seen = list(pool.map(process, calls))
    codes = {k: code for part, (code, _) in zip(parts, seen, strict=True) for k in part}
    return codes, "".join(text for _, text in seen)


def told_of(text: str, entry: str) -> list[str]:
    """What the tool says of one kernel, whose entry has a name of its own."""
    lines = [x.removeprefix("=========").strip() for x in text.splitlines() if x.startswith("=====")]
    return [x for x in lines if re.search(rf"\b{entry}\b", x)][:6]


def gpu() -> str:
    """The GPU's name."""
    import cupy

    return cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()


def write(output: Path, report: Mapping[str, Any]) -> None:
    """Store a report and show it."""
    output.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report))
