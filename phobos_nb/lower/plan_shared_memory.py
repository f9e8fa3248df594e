"""Places every shared buffer of a kernel in one array of bytes, from live ranges in program order.

A buffer lives from its first to its last use; a use inside a loop that the buffer stands outside of
counts for the whole loop. Sharing bytes costs barriers, so small buffers have bytes of their own, and
all have while they are few; beyond that, large ones that do not live at the same time share bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.source import Span
from phobos_nb.target import Target

ALIGNMENT = 128
"""Bytes; a whole row of banks, and what bulk copies and `ldmatrix` swizzles ask for."""

REUSE_ABOVE = 16 * 1024
"""Bytes of all buffers; below this, sharing would cost barriers and gain no occupancy anywhere."""

SMALL = 1024
"""Bytes; a buffer of this size or less never shares."""


@dataclass(frozen=True)
class LiveBuffer:
    """What planning needs to know of a buffer; first and last are positions in program order."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    itemsize: int
    first: int
    last: int
    line: int = 0
    pad: int = 0
    stages: int = 1
    order: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Bytes, rounded up to the alignment."""
        count = self.itemsize
        for extent in self.shape:
            count *= extent
        return -(-count // ALIGNMENT) * ALIGNMENT

    def meets(self, other: LiveBuffer) -> bool:
        """Whether both live at some position."""
        return self.first <= other.last and other.first <= self.last

    def excludes(self, other: LiveBuffer) -> bool:
        """Whether both must have bytes of their own."""
        return self.meets(other) or min(self.size, other.size) <= SMALL


@dataclass(frozen=True)
class PlacedBuffer:
    """A buffer of the plan, as views show it.

    shape is physical (padding included), strides and pad are in elements, offset and bytes in bytes.
    swizzle names the permutation of 16-byte chunks, empty for none. line is where it is made for.
    stages: copies of the tile, one after the other; more than 1 are the first extent of the shape.
    order: the tile's axis that each axis of a copy holds; empty where they are the same.
    """

    name: str
    offset: int
    bytes: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    pad: int
    swizzle: str
    line: int
    first: int
    last: int
    stages: int = 1
    order: tuple[int, ...] = ()


@dataclass(frozen=True)
class SharedPlan:
    """All buffers of a kernel and the bytes of shared memory that one CTA needs for them."""

    buffers: tuple[PlacedBuffer, ...] = ()
    total: int = 0


def place(buffers: Sequence[LiveBuffer]) -> SharedPlan:
    """Give every buffer its byte offset; the order of `buffers` is kept in the plan."""
    together = sum(b.size for b in buffers)
    offsets = _apart(buffers) if together <= REUSE_ABOVE else _first_fit(buffers)
    placed = tuple(_placed(b, o) for b, o in zip(buffers, offsets, strict=True))
    return SharedPlan(
        placed, max((p.offset + b.size for p, b in zip(placed, buffers, strict=True)), default=0)
    )


def check_limit(plan: SharedPlan, target: Target, diagnostics: Diagnostics, span: Span | None) -> None:
    """Report PH510 when the plan needs more shared memory than a CTA can have on the target."""
    allowed = target.shared_per_cta_optin
    if plan.total <= allowed:
        return
    largest = max(plan.buffers, key=lambda b: b.bytes)
    diagnostics.error(
        "PH510",
        f"shared memory: needs {plan.total} bytes, {target.name} allows {allowed} per CTA",
        span,
        help=f"the largest buffer is {largest.name} at line {largest.line} ({largest.bytes} bytes); "
        "smaller tiles or fewer STAGES need less",
        stage="lower",
    )


def _apart(buffers: Iterable[LiveBuffer]) -> list[int]:
    offsets: list[int] = []
    end = 0
    for buffer in buffers:
        offsets.append(end)
        end += buffer.size
    return offsets


def _first_fit(buffers: Sequence[LiveBuffer]) -> list[int]:
    """Largest first, each at the lowest offset that no buffer it may not share with holds."""
    offsets: dict[int, int] = {}
    for number in sorted(range(len(buffers)), key=lambda i: (-buffers[i].size, buffers[i].first)):
        buffer = buffers[number]
        taken = sorted(
            (o, o + buffers[i].size) for i, o in offsets.items() if buffer.excludes(buffers[i])
        )
        offset = 0
        for start, stop in taken:
            if offset + buffer.size <= start:
                break
            offset = max(offset, stop)
        offsets[number] = offset
    return [offsets[i] for i in range(len(buffers))]


def _placed(buffer: LiveBuffer, offset: int) -> PlacedBuffer:
    strides: list[int] = []
    stride = 1
    for extent in reversed(buffer.shape):
        strides.insert(0, stride)
        stride *= extent
    return PlacedBuffer(
        buffer.name,
        offset,
        stride * buffer.itemsize,
        buffer.dtype,
        buffer.shape,
        tuple(strides),
        buffer.pad,
        "",
        buffer.line,
        buffer.first,
        buffer.last,
        buffer.stages,
        buffer.order,
    )
