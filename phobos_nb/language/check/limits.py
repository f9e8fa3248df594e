"""How large the tiles and shared arrays of a CTA may be, before anything is made of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.typed import SharedArray, Statement, StoreTile
from phobos_nb.language.types import TileType
from phobos_nb.language.walk import all_expressions, statements
from phobos_nb.source import Span

ELEMENTS_PER_THREAD = 512
"""Most elements of one tile for each thread of its CTA.

A thread has 255 registers of 4 bytes (CUDA C++ Programming Guide, technical specifications), so that
512 elements of 16 bits fill them and wider ones spill; the generated code grows with the number too.
"""

SHARED_BYTES = 227 * 1024
"""Most shared memory of a CTA on any GPU (same table, compute capability 9.0 and 10.0)."""


class Room(NamedTuple):
    """The most shared memory that a CTA can have on a target, in bytes."""

    target: str
    bytes: int


def check_sizes(
    body: tuple[Statement, ...],
    shared: tuple[SharedArray, ...],
    threads: int,
    diagnostics: Diagnostics,
    room: Room | None = None,
) -> None:
    """Report each shape of tile that is too large for the threads (PH208), where it comes first, and
    each shared array that no GPU has room for (PH510). room: that of the chip that was asked for.
    """
    limit = ELEMENTS_PER_THREAD * threads
    seen: set[tuple[int, ...]] = set()
    for shape, span in _tiles(body):
        elements = math.prod(shape)
        if elements > limit and shape not in seen:
            seen.add(shape)
            diagnostics.error("PH208", _too_large(shape, elements, threads), span, help=_help(limit))
    for array in shared:
        taken = math.prod(array.type.shape) * array.type.dtype.itemsize
        if taken > SHARED_BYTES:
            allows = f"no GPU allows more than {SHARED_BYTES} per CTA"
            if room is not None:
                allows = f"{room.target} allows {room.bytes} per CTA"
            message = f"`{array.name}` takes {taken} bytes of shared memory, {allows}"
            help = "take a smaller array, and walk the data in pieces"
            diagnostics.error("PH510", message, array.span, help=help)


def _tiles(body: tuple[Statement, ...]) -> Iterator[tuple[tuple[int, ...], Span]]:
    """Shape and place of every tile that is read, computed or stored."""
    for expr in all_expressions(body):
        if isinstance(expr.type, TileType):
            yield expr.type.shape, expr.span
    for statement in statements(body):
        if isinstance(statement, StoreTile):
            yield statement.region.shape, statement.region.span


def _too_large(shape: tuple[int, ...], elements: int, threads: int) -> str:
    extents = " x ".join(map(str, shape))
    size = f"{extents} elements" if len(shape) == 1 else f"{extents} = {elements} elements"
    limit = ELEMENTS_PER_THREAD * threads
    return f"a tile of {size}: {threads} threads hold at most {limit}, {ELEMENTS_PER_THREAD} each"


def _help(limit: int) -> str:
    return f"walk it in slices of at most {limit} elements, or give `@launch` more threads"
