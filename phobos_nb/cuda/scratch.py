"""Device memory of launch plans: one block per stream, one per graph capture.

Note [Scratch and streams]
Calls on one stream run in order, so they share a block; calls on two streams may run at once. A captured
call gets a block of its own, which lives as long as the plan: the graph may be replayed on any stream.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

from phobos_nb.arguments.array import ArrayDescription, contiguous_strides
from phobos_nb.contract import Scratch
from phobos_nb.cuda.driver import cupy, during_capture, library
from phobos_nb.dtypes import SCALARS

ALIGNMENT = 256
"""Bytes; what cudaMalloc itself aligns to at least (CUDA C++ Programming Guide, 5.3.2)."""

MOST_STREAMS = 16
"""Blocks kept for streams per plan; the least recently added goes first."""


@dataclass(frozen=True)
class Block:
    """One allocation and where the scratch arrays lie in it; `cleared` are runs (address, bytes)."""

    memory: Any
    addresses: tuple[int, ...]
    cleared: tuple[tuple[int, int], ...]


class ScratchMemory:
    """The scratch of one plan for one set of extents, on the GPU that is current."""

    def __init__(self, scratch: Sequence[Scratch], extents: Mapping[str, int]) -> None:
        self.described = {s.name: _described(s, extents) for s in scratch}
        sizes = [prod(d.shape) * d.itemsize for d in self.described.values()]
        ends = [0]
        for size in sizes:
            ends.append(ends[-1] + -(-max(size, 1) // ALIGNMENT) * ALIGNMENT)
        self._offsets = [low for low, _ in pairwise(ends)]
        self._bytes = ends[-1]
        self._cleared = [
            (o, n) for o, n, s in zip(self._offsets, sizes, scratch, strict=True) if s.clear and n
        ]
        self._streams: dict[int, Block] = {}
        self._captures: dict[tuple[int, int], Block] = {}

    def addresses(self, stream: int) -> tuple[int, ...]:
        """Where the arrays lie for a call on this stream, cleared as far as they are to be."""
        capture = capture_id(stream)
        found = self._captures.get((stream, capture)) if capture else self._streams.get(stream)
        if found is None:
            found = self._allocated(stream)
            if capture:
                self._captures[stream, capture] = found
            else:
                self._keep(stream, found)
        for address, size in found.cleared:
            cupy().cuda.runtime.memsetAsync(address, 0, size, stream)
        return found.addresses

    def _keep(self, stream: int, block: Block) -> None:
        if len(self._streams) >= MOST_STREAMS:
            del self._streams[next(iter(self._streams))]  # cudaFree waits for what still uses it
        self._streams[stream] = block

    def _allocated(self, stream: int) -> Block:
        module = cupy()
        with during_capture():
            memory = module.cuda.Memory(self._bytes)
        module.cuda.runtime.memsetAsync(memory.ptr, 0, self._bytes, stream)
        return Block(
            memory,
            tuple(memory.ptr + o for o in self._offsets),
            tuple((memory.ptr + o, n) for o, n in self._cleared),
        )


def _described(scratch: Scratch, extents: Mapping[str, int]) -> ArrayDescription:
    """The scratch as an array, for extents and strides; its address is not known yet."""
    shape, size = scratch.shape(extents), SCALARS[scratch.dtype].itemsize
    return ArrayDescription(scratch.dtype, shape, contiguous_strides(shape, size), 0, size)


def capture_id(stream: int) -> int:
    """The number of the graph capture that a stream is in, 0 when it is in none."""
    if stream <= _LEGACY_STREAM or not cupy().cuda.runtime.streamIsCapturing(stream):
        return 0
    status, number = ctypes.c_int(0), ctypes.c_uint64(0)
    places = ctypes.byref(status), ctypes.byref(number)
    library().cuStreamGetCaptureInfo_v2(ctypes.c_void_p(stream), *places, None, None, None)
    return number.value


_LEGACY_STREAM = 1
"""CU_STREAM_LEGACY of cuda.h; it and the null stream cannot be captured."""
