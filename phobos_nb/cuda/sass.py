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
from functools import cache
from importlib import metadata
from pathlib import Path

from phobos_nb.diagnostics import Diagnostic, PhobosError


@dataclass(frozen=True)
class Instruction:
    """One machine instruction: byte address, opcode with its modifiers, the whole text, its line.

    `line` is a line of the file that `#line` named, 0 where the compiler recorded none. `function`: the
    function of NVIDIA's compiler that it belongs to, which has no lines; empty in the kernel itself.
    """

    address: int
    opcode: str
    text: str
    file: str
    line: int
    function: str = ""

    @property
    def family(self) -> str:
        """The opcode without modifiers, such as LDS of LDS.128."""
        return self.opcode.split(".", 1)[0]


WHEELS = ("nvidia-cuda-nvdisasm", "nvidia-cuda-nvcc")
"""Packages whose wheels carry nvdisasm."""


@cache
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


class Disassembly:
    """A run of nvdisasm that goes on beside the caller: most of its time is the tool's own start.

    cubin: with line information. Raises PhobosError PH602 when the tool is missing.
    """

    def __init__(self, cubin: bytes) -> None:
        tool = _nvdisasm()
        self._folder = tempfile.TemporaryDirectory()
        path, listing = (Path(self._folder.name) / name for name in ("kernel.cubin", "listing"))
        path.write_bytes(cubin)
        command = [str(tool), "--print-code", "--print-line-info-inline", str(path)]
        self._listing = listing
        with listing.open("wb") as out:
            self._process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE)

    def text(self) -> str:
        """The listing, once it is there. To be read once."""
        _, complaint = self._process.communicate()
        with self._folder:
            if self._process.returncode != 0:
                raise RuntimeError(f"nvdisasm failed: {complaint.decode(errors='replace').strip()}")
            return self._listing.read_text("utf-8", errors="replace")


def disassemble(cubin: bytes) -> str:
    """The listing by nvdisasm of a cubin with line information; PhobosError PH602 when it is missing."""
    return Disassembly(cubin).text()


def _nvdisasm() -> Path:
    tool = find_nvdisasm()
    if tool is None:
        raise PhobosError(
            [
                Diagnostic(
                    "PH602",
                    f"nvdisasm was not found: not in the wheels {' or '.join(WHEELS)}, not on PATH",
                    stage="sass",
                    help="pip install 'phobos_nb[sass]', that is 'nvidia-cuda-nvdisasm>=13,<14'",
                )
            ]
        )
    return tool


PLACE = re.compile(r'//## File "(?P<file>.*?)", line (?P<line>\d+)')
CODE = re.compile(
    r"/\*(?P<address>[0-9a-f]+)\*/\s+(?P<text>(?:@!?U?P\w+\s+)?(?P<opcode>[A-Z][\w.]*).*?) ?;"
)

FUNCTION = re.compile(r"(?P<name>\$[\w$.]+):$")
"""The label of a function that NVIDIA's compiler put behind the kernel, for the kernel to call."""


def instructions(listing: str) -> list[Instruction]:
    """The instructions of a listing in order, each with the last place named above it.

    Where a helper was inlined the listing names its own line first and the line that called it last.
    A function that is called has no places: those above it are of the kernel's end.
    """
    found: list[Instruction] = []
    here = f"{Path.cwd()}{os.sep}"  # NVRTC puts it in front of the names of `#line`
    file, line, function = "", 0, ""
    for text in listing.splitlines():
        place = PLACE.search(text)
        if place is not None:
            file, line = place["file"].removeprefix(here), int(place["line"])
            continue
        label = FUNCTION.match(text)
        if label is not None:
            file, line, function = "", 0, label["name"]
            continue
        code = CODE.search(text)
        if code is not None:
            at, opcode = int(code["address"], 16), code["opcode"]
            found.append(Instruction(at, opcode, code["text"], file, line, function))
    return found


def mix(code: Iterable[Instruction]) -> dict[int, Counter[str]]:
    """Line of kernel text -> how many instructions of each family it became."""
    table: dict[int, Counter[str]] = {}
    for instruction in code:
        table.setdefault(instruction.line, Counter())[instruction.family] += 1
    return table
