"""What `compare` says of every planted fault, the right answer given as a function and as arrays.

usage: python -m tests.simulate.planted_report OUT.txt
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Protocol

from phobos_nb.simulate.difference import Difference
from tests.provenance import made_by
from tests.simulate import planted_kernels, planted_users


class Planted(Protocol):
    """A fault in a kernel."""

    @property
    def kind(self) -> str:
        """What it is."""
        ...

    def differences(self, *, function: bool) -> list[Difference]:
        """What is said."""
        ...


def row(of: str, name: str, kernel: str, planted: Planted) -> tuple[str, list[bool], list[float]]:
    """A line of the table, whether the kind is right in both ways, and the seconds that it took."""
    marks: list[str] = []
    seconds: list[float] = []
    said: list[Difference] = []
    for function in (True, False):
        begun = time.perf_counter()
        said = planted.differences(function=function)
        seconds.append(time.perf_counter() - begun)
        kinds = {d.kind for d in said}
        marks.append("right" if kinds == {planted.kind} else f"no: {', '.join(kinds)}")
    head = f"{of:7} {kernel:21} {planted.kind:16} {marks[0]:20} {marks[1]:20} {name}"
    return f"{head}\n{'':8}{said[0].verdict}", [m == "right" for m in marks], seconds


SETS: dict[str, Mapping[str, Planted]] = {**planted_kernels.SETS, **planted_users.SETS}


def told(fault: tuple[str, str]) -> tuple[str, list[bool], list[float]]:
    """The row of a fault by its set and name."""
    of, name = fault
    planted = SETS[of][name]
    return row(of, name, getattr(planted, "case", getattr(planted, "kernel", "")), planted)


def main() -> None:
    """Write the table and the scores, on two cores."""
    lines = [f"{'set':7} {'kernel':21} {'planted':16} {'ref a function':20} {'ref arrays':20} fault"]
    scores: list[str] = []
    faults = [(of, name) for of, planted in SETS.items() for name in planted]
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        found = dict(zip(faults, pool.map(told, faults), strict=True))
    for of, planted in SETS.items():
        rows = [found[of, name] for name in planted]
        lines += [text for text, _, _ in rows]
        right = [sum(marks[i] for _, marks, _ in rows) for i in (0, 1)]
        longest = max(max(seconds) for _, _, seconds in rows)
        scores.append(
            f"{of}: {right[0]} of {len(rows)} with a function, {right[1]} with arrays; "
            f"at most {longest:.1f} s each"
        )
    head = made_by("tests.simulate.planted_report")
    Path(sys.argv[1]).write_text("\n".join([head, *scores, "", *lines]) + "\n", "utf-8")


if __name__ == "__main__":
    main()
