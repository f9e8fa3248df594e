"""The barriers of a compilation as a tuple that is printed one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phobos_nb.lower.insert_barriers import Barrier


class Barriers(tuple["Barrier", ...]):
    """A tuple of barriers in program order."""

    __slots__ = ()

    def __repr__(self) -> str:
        """One barrier a line: number, what became of it, the line it stands before, the reason."""
        return "\n".join(map(_row, self)) if self else "no barriers"


def _row(barrier: Barrier) -> str:
    scope = "" if barrier.scope == "CTA" else f"{barrier.scope} "
    number = f" {barrier.number}" if barrier.number else ""
    state = "kept" if barrier.kept else "left out on request" if barrier.number else "elided"
    line = f" before line {barrier.line}" if barrier.line else ""
    return f"{scope}barrier{number}{line}, {state}: {barrier.reason}"
