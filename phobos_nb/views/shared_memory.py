"""Shared memory as a byte ruler: every buffer at its planned offset and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BAR_CELLS = 40


@dataclass(frozen=True)
class Buffer:
    """One buffer of the plan. `offset` and `size` are bytes; `what` says what it holds."""

    name: str
    offset: int
    size: int
    what: str = ""
    line: int | None = None

    @property
    def stop(self) -> int:
        """The first byte after the buffer."""
        return self.offset + self.size


@dataclass(frozen=True)
class SharedMemory:
    """The planned shared memory of one CTA, in bytes.

    limit: the most that one CTA may have on the target, where a target is meant. Bytes that lie in no
    buffer are alignment gaps; bytes of several buffers are reused, each at its time.
    """

    total: int
    buffers: tuple[Buffer, ...] = ()
    limit: int | None = None
    target: str = ""

    @property
    def headline(self) -> str:
        """One line: bytes of the plan and, where it is known, the target's limit."""
        count = f"{len(self.buffers)} buffer{'s' if len(self.buffers) != 1 else ''}"
        plan = f"{self.total:,} bytes in {count}" if self.total else "no shared memory"
        limit = "" if self.limit is None else f"; a CTA on {self.target} may have {self.limit:,}"
        return plan + limit


def lanes(buffers: Sequence[Buffer]) -> list[list[Buffer]]:
    """Rows of buffers such that no two of a row overlap: more than one row means reused bytes."""
    rows: list[list[Buffer]] = []
    for buffer in sorted(buffers, key=lambda b: (b.offset, b.size, b.name)):
        row = next((r for r in rows if r[-1].stop <= buffer.offset), None)
        if row is None:
            rows.append(row := [])
        row.append(buffer)
    return rows


def to_text(memory: SharedMemory) -> str:
    """The ruler as text, one line per buffer, its bar in proportion to its place."""
    width = len(f"{memory.total:,}")
    name = max((len(b.name) for b in memory.buffers), default=0)
    rows = [
        f"  {b.offset:>{width},} |{_bar(b, memory.total)}| {b.name:<{name}}  {b.size:,} bytes  {b.what}"
        for b in sorted(memory.buffers, key=lambda b: (b.offset, b.name))
    ]
    return "\n".join([f"Shared memory: {memory.headline}", *(row.rstrip() for row in rows)])


def _bar(buffer: Buffer, total: int) -> str:
    start = buffer.offset * BAR_CELLS // total
    stop = max(start + 1, -(-buffer.stop * BAR_CELLS // total))
    return " " * start + "#" * (stop - start) + " " * (BAR_CELLS - stop)
