"""Machine code as text, with the kernel lines it came from; needs `nvdisasm`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from phobos_nb.diagnostics import Diagnostic, PhobosError


@dataclass(frozen=True)
class Instruction:
    """One machine instruction: byte address, opcode with its modifiers, the whole text, its line.

    `line` is a line of the file that `#line` named, 0 where the compiler recorded none.
    """

    address: int
    opcode: str
    text: str
    file: str
    line: int

    @property
    def family(self) -> str:
        """The opcode without modifiers, such as LDS of LDS.128."""
        return self.opcode.split(".", 1)[0]


WHEELS = ("nvidia-cuda-nvdisasm", "nvidia-cuda-nvcc")
"""Packages whose wheels carry nvdisasm."""


def find_nvdisasm() -> Path | None:
    """The disassembler: of a wheel in this environment, else on PATH."""
    for wheel in WHEELS:
        try:
            files = metadata.files(wheel) or []
        except metadata.PackageNotFoundError:
            continue
        for file in files:
            found = Path(str(file.locate()))
            if found.stem == "nvdisasm" and found.is_file():
                return found
    path = shutil.which("nvdisasm")
    return Path(path) if path else None


def disassemble(cubin: bytes) -> str:
    """The listing by nvdisasm of a cubin with line information; PhobosError PH602 when it is missing."""
    tool = find_nvdisasm()
    if tool is None:
        raise PhobosError(
            [
                Diagnostic(
                    "PH602",
                    f"nvdisasm was not found: not in the wheels {' or '.join(WHEELS)}, not on PATH",
                    stage="sass",
                    help="pip install 'nvidia-cuda-nvdisasm>=13,<14'",
                )
            ]
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        command = [str(tool), "--print-code", "--print-line-info-inline", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"nvdisasm failed: {done.stderr.strip()}")
    return done.stdout


PLACE = re.compile(r'//## File "(?P<file>.*?)", line (?P<line>\d+)')
CODE = re.compile(
    r"/\*(?P<address>[0-9a-f]+)\*/\s+(?P<text>(?:@!?U?P\w+\s+)?(?P<opcode>[A-Z][\w.]*).*?) ?;"
)


def instructions(listing: str) -> list[Instruction]:
    """The instructions of a listing in order, each with the last place named above it.

    Where a helper was inlined the listing names its own line first and the line that called it last.
    """
    found: list[Instruction] = []
    here = f"{Path.cwd()}{os.sep}"  # NVRTC puts it in front of the names of `#line`
    file, line = "", 0
    for text in listing.splitlines():
        place = PLACE.search(text)
        if place is not None:
            file, line = place["file"].removeprefix(here), int(place["line"])
            continue
        code = CODE.search(text)
        if code is not None:
            found.append(Instruction(int(code["address"], 16), code["opcode"], code["text"], file, line))
    return found


def mix(code: Iterable[Instruction]) -> dict[int, Counter[str]]:
    """Line of kernel text -> how many instructions of each family it became."""
    table: dict[int, Counter[str]] = {}
    for instruction in code:
        table.setdefault(instruction.line, Counter())[instruction.family] += 1
    return table
