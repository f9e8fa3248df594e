"""What a kernel printed or asserted, read back after its launch; see Note [Device output]."""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from phobos_nb.arguments.show import shown_line
from phobos_nb.contract import LaunchContract, Output
from phobos_nb.cuda.driver import cupy, driver_api
from phobos_nb.cuda.output_form import HEAD, RECORDS, SYMBOL
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.dtypes import SCALARS


class KernelAssertionError(PhobosError, AssertionError):
    """An assertion failed on the GPU; the kernel ended, the context is whole."""


def words_per_record(outputs: Sequence[Output]) -> int:
    """Records are as long as the longest needs."""
    return HEAD + max((len(o.types) for o in outputs), default=0)


@dataclass(frozen=True)
class Shown:
    """The lines that a launch printed, in order; the assertions that failed; what was dropped."""

    lines: tuple[str, ...]
    failures: tuple[Diagnostic, ...]
    dropped: int


def read_records(contract: LaunchContract, count: int, records: NDArray[np.uint64]) -> Shown:
    """What a buffer says: `count` tickets were drawn, `records` [number, words] are there.

    Lines are ordered by CTA, thread and ticket. Of every assertion the first failing thread is told.
    """
    used = records[records[:, 2] != 0]
    order = np.lexsort((np.arange(len(used)), used[:, 1], used[:, 0]))
    lines: list[str] = []
    failures: dict[Output, Diagnostic] = {}
    for row in cast("list[list[int]]", used[order].tolist()):
        place = contract.outputs[row[2] - 1]
        text = formatted(place, row[HEAD:])
        if place.fails:
            failures.setdefault(place, _failure(contract, text, row[0], row[1]))
        else:
            lines.append(text)
    return Shown(tuple(lines), tuple(failures.values()), max(0, count - RECORDS))


def formatted(place: Output, words: Sequence[int]) -> str:
    """The text of one record, its values written as NumPy writes scalars of their types."""
    numbers = [_number(kind, word) for kind, word in zip(place.types, words, strict=False)]
    return shown_line(place.text, place.types, numbers)


def _number(kind: str, word: int) -> float:
    """What a word holds: f64 bits, or an integer in two's complement."""
    return struct.unpack("=d" if SCALARS[kind].is_float else "=q", struct.pack("=Q", word))[0]


def _failure(contract: LaunchContract, text: str, block: int, thread: int) -> Diagnostic:
    """The text names the line, see `lower/distribute_output.py`."""
    message = f"{contract.kernel}: {text} (CTA {block}, thread {thread})"
    return Diagnostic("PH801", message, stage="run")


class DeviceOutput:
    """The output buffer of one loaded kernel."""

    def __init__(self, module: int, contract: LaunchContract) -> None:
        self._contract = contract
        self._address = int(driver_api().moduleGetGlobal(module, SYMBOL))
        self._words = words_per_record(contract.outputs)

    def show(self) -> None:
        """Write what was printed since the last time to standard output; raise what was asserted.

        The kernel's work must be done: the caller has waited for it.
        """
        count = int(self._read(0, 1)[0])
        if count == 0:
            return
        held = min(count, RECORDS + 1)
        records = self._read(1, held * self._words).reshape(held, self._words)
        cupy().cuda.runtime.memset(self._address, 0, 8)
        cupy().cuda.runtime.memset(self._address + 8 * (1 + RECORDS * self._words), 0, 8 * HEAD)
        shown = read_records(self._contract, count, records)
        sys.stdout.write("".join(f"{line}\n" for line in shown.lines))
        if shown.dropped:
            sys.stdout.write(f"({shown.dropped} more lines of {self._contract.kernel} did not fit)\n")
        if shown.failures:
            raise KernelAssertionError(shown.failures)

    def _read(self, first: int, count: int) -> NDArray[np.uint64]:
        host = np.empty(count, np.uint64)
        runtime = cupy().cuda.runtime
        runtime.memcpy(host.ctypes.data, self._address + 8 * first, host.nbytes, _TO_HOST)
        return host


_TO_HOST = 2
"""cudaMemcpyDeviceToHost of driver_types.h."""
