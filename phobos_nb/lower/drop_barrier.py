"""The request to leave out one barrier: its number must be that of a kept one."""

from __future__ import annotations

from collections.abc import Sequence

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.lower.insert_barriers import Barrier
from phobos_nb.source import Span

LIST = "`.compile().barriers` lists all with their reasons"


def check_dropped(
    drop: int, barriers: Sequence[Barrier], diagnostics: Diagnostics, span: Span | None
) -> None:
    """Report PH516 where no kept barrier has the number `drop`."""
    if drop not in [b.number for b in barriers if b.number]:
        message = f"drop_barrier: there is no barrier {drop} to leave out"
        diagnostics.error("PH516", message, span, help=_what_there_is(barriers), stage="lower")


def _what_there_is(barriers: Sequence[Barrier]) -> str:
    kept = [f"{b.number} before line {b.line}" for b in barriers if b.number]
    elided = [str(b.line) for b in barriers if not b.number]
    one = len(kept) == 1
    have = f"{len(kept)} {'is' if one else 'are'} kept: {', '.join(kept)}" if kept else "none is kept"
    without = f"; {len(elided)} elided (before line {', '.join(elided)})" if elided else ""
    return f"{have}{without}; {LIST}"
