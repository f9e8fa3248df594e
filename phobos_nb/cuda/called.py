"""Functions that NVIDIA's compiler puts behind a kernel for it to call: slow paths of division and more.

They belong to no line of any text, and one serves all lines that call it. Their names are the
compiler's, such as `$__internal_1_$__cuda_sm3x_div_rn_noftz_f32_slowpath`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from phobos_nb.cuda.sass import Instruction

PREFIX = re.compile(r"^\$(?:\w*\$)?")
"""What numbers a function within one module: `$__internal_1_$`, `$kernel$`."""

TARGET = re.compile(r"CALL\S*\s.*?(\$[\w$.]+)")

OPERATIONS = {
    "div": "division",
    "rem": "remainder",
    "rcp": "reciprocal",
    "sqrt": "square root",
    "rsqrt": "reciprocal square root",
    "trig_reduction": "argument reduction of sin and cos",
}
"""What the names of functions begin with, behind prefix and architecture."""

NAME = re.compile(
    r"__(?:cuda_sm\w\w|internal)_(?P<double>dbl|d)?(?P<operation>(?:trig_)?(?:div|rem|rcp|r?sqrt|reduction))"
    r"(?:_(?:rn|rz|noftz|ftz))*(?:_(?P<type>[fsu]\d\d))?(?:_(?P<path>slow|medium)path(?P<of_double>d)?)?"
)


@dataclass(frozen=True)
class Called:
    """One function. name: the compiler's, without what numbers it.

    lines: of kernel text that come to it. mix: instruction families with their counts, most first.
    """

    name: str
    lines: tuple[int, ...]
    mix: tuple[tuple[str, int], ...]

    @property
    def what(self) -> str:
        """What it does, such as `slow path of f32 division`; its name where that tells nothing."""
        found = NAME.match(self.name)
        if found is None:
            return self.name
        doubled = found["double"] or found["of_double"]
        kind = (found["type"] or ("f64" if doubled else "")).replace("s", "i")
        path = f"{found['path']} path of" if found["path"] else ""
        return " ".join(w for w in (path, kind, OPERATIONS[found["operation"]]) if w)


def called(code: Sequence[Instruction], file: str, padding: Iterable[str] = ()) -> Iterator[Called]:
    """The functions behind one kernel, in order. file: of the lines that count as callers.

    padding: families that do nothing.
    """
    callers = _callers(code)
    skipped = frozenset(padding)
    for function in dict.fromkeys(i.function for i in code if i.function):
        own = [i for i in code if i.function == function and i.family not in skipped]
        at = {i.line for i in _reaching(function, callers, set()) if i.file == file}
        mix = Counter(i.family for i in own).most_common()
        yield Called(PREFIX.sub("", function), tuple(sorted(at)), tuple(mix))


def _callers(code: Sequence[Instruction]) -> dict[str, list[Instruction]]:
    """Function -> the instructions that call it."""
    found: dict[str, list[Instruction]] = {}
    for instruction in code:
        target = TARGET.search(instruction.text)
        if target is not None:
            found.setdefault(target[1], []).append(instruction)
    return found


def _reaching(
    function: str, callers: dict[str, list[Instruction]], seen: set[str]
) -> Iterator[Instruction]:
    """The kernel's own calls that lead to a function, through others too."""
    seen.add(function)
    for call in callers.get(function, ()):
        if not call.function:
            yield call
        elif call.function not in seen:
            yield from _reaching(call.function, callers, seen)
