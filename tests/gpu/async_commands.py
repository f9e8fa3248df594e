"""The commands of a module of stored kernels: `prepare` anywhere, `run` and `race` on a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.gpu.async_apart import apart, gpu, several, told_of, watched, write
from tests.gpu.async_folder import Json, index

Found = Mapping[int, Json]
"""What is known of some kernels after they have been launched, by number."""


@dataclass(frozen=True)
class Raced:
    """Which kernels run under racecheck, by their entries of the index, and what is told of them."""

    chosen: Callable[[Json], bool]
    report: Callable[[list[Json], Found], Json]


@dataclass(frozen=True)
class Commands:
    """What one module does, whose processes are this module again, called with numbers of kernels.

    prepare: writes the folder. one: launches a kernel of it some times. chosen: whether `run` launches
    the kernel of an entry. report: what is written of all, and how many were wrong.
    """

    module: str
    help: str
    repeats: int
    prepare: Callable[[Path], None]
    one: Callable[[Path, int, int], Json]
    chosen: Callable[[Json], bool]
    report: Callable[[list[Json], Found], tuple[Json, int]]
    raced: Raced | None = None

    def main(self, arguments: list[str]) -> int:
        """One of the commands; the exit status."""
        match arguments:
            case ["prepare", folder]:
                self.prepare(Path(folder))
            case ["run", folder, output]:
                return self.run(Path(folder), Path(output))
            case ["race", folder, output] if self.raced is not None:
                race(self.module, self.raced, Path(folder), Path(output))
            case ["some" | "once" as how, folder, *numbers]:
                repeats = self.repeats if how == "some" else 1
                several([int(k) for k in numbers], lambda k: self.one(Path(folder), k, repeats))
            case _:
                print(self.help)
                return 2
        return 0

    def run(self, folder: Path, output: Path) -> int:
        """Launch the chosen kernels and write a report; the number of those that were wrong."""
        started = time.perf_counter()
        entries = index(folder)
        numbers = [k for k, entry in enumerate(entries) if self.chosen(entry)]
        found = apart([self.module, "some", str(folder)], numbers)
        report, wrong = self.report(entries, {k: found[k] for k in numbers})
        head: dict[str, Any] = {"gpu": gpu(), "repeats": self.repeats}
        write(output, head | report | {"seconds": round(time.perf_counter() - started, 1)})
        return wrong


def race(module: str, raced: Raced, folder: Path, output: Path) -> None:
    """Launch kernels once under racecheck: what it saw beside what the simulator saw.

    The tool's own text comes to lie beside `output`.
    """
    entries = index(folder)
    numbers = [k for k, entry in enumerate(entries) if raced.chosen(entry)]
    ended, text = watched([module, "once", str(folder)], numbers)
    output.with_suffix(".txt").write_text(text)
    found: dict[int, Json] = {}
    for k in numbers:
        told = told_of(text, entries[k]["contract"]["entry"])
        found[k] = {"simulator": entries[k]["simulator"], "process": ended[k], "racecheck": told}
    write(output, raced.report(entries, found))
