"""What `compare` says of every planted fault, the right answer given as a function and as arrays.

usage: python -m tests.simulate.planted_report OUT.txt
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Protocol

from phobos_nb.simulate.difference import Difference
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


def main() -> None:
    """Write the table and the scores."""
    lines = [f"{'set':7} {'kernel':21} {'planted':16} {'ref a function':20} {'ref arrays':20} fault"]
    scores: list[str] = []
    for of, planted in {**planted_kernels.SETS, **planted_users.SETS}.items():
        rows = [row(of, n, getattr(p, "case", getattr(p, "kernel", "")), p) for n, p in planted.items()]
        lines += [text for text, _, _ in rows]
        right = [sum(marks[i] for _, marks, _ in rows) for i in (0, 1)]
        longest = max(max(seconds) for _, _, seconds in rows)
        scores.append(
            f"{of}: {right[0]} of {len(rows)} with a function, {right[1]} with arrays; "
            f"at most {longest:.1f} s each"
        )
    Path(sys.argv[1]).write_text("\n".join([*scores, "", *lines]) + "\n", "utf-8")


if __name__ == "__main__":
    main()
