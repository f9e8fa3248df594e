"""Single boxes at the edge of what bulk copies can do: what a GPU does with each, and the right bytes.

The bytes are those of loops over NumPy arrays, not the simulator's: it refuses most of these.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tests.async_boxes import PIECE, Box
from tests.async_bytes import bytes_of
from tests.async_kernels import box_load, box_store
from tests.async_text import SIZES, Kernel


@dataclass(frozen=True)
class Probe:
    """A box of a tensor loaded or stored: corner outermost first, `at` its byte in shared memory."""

    way: str
    dtype: str
    shape: tuple[int, ...]
    box: tuple[int, ...]
    corner: tuple[int, ...]
    swizzle: int = 0
    at: int = 0
    gap: int = 0

    @property
    def name(self) -> str:
        """All of it in words."""
        text = f"{self.way} {self.dtype} {_times(self.shape)}, box {_times(self.box)} at {self.corner}"
        text += f", swizzle {self.swizzle}" if self.swizzle else ""
        text += f", byte {self.at}" if self.at else ""
        return text + (f", {self.gap} bytes behind each row" if self.gap else "")

    @property
    def narrow(self) -> bool:
        """Whether its rows are narrower than the swizzle."""
        return Box(self.dtype, self.box).row < self.swizzle

    @property
    def spills(self) -> bool:
        """Whether it is stored over an end of rows that are no multiples of 16 bytes."""
        ends = self.corner[-1] < self.shape[-1] < self.corner[-1] + self.box[-1]
        return self.way == "store" and ends and self.shape[-1] * SIZES[self.dtype] % PIECE != 0

    def kernel(self) -> Kernel:
        """The kernel that does it."""
        place = (self.dtype, self.shape, self.box, self.corner, self.swizzle, self.at)
        return box_load(*place) if self.way == "load" else box_store(*place, self.gap)

    def wanted(self, kernel: Kernel) -> dict[str, np.ndarray]:
        """The bytes of the output as they are if two things that no manual says are so.

        Rows lie as far apart in shared memory as the swizzle is wide. Stores are cut off at the end of
        the tensor's rows only to multiples of 16 bytes.
        """
        tensor = kernel.arguments["src" if self.way == "load" else "dst"]
        shared = np.arange(kernel.contract.shared_bytes // 4, dtype=np.int32).view(np.uint8)
        global_, size = bytes_of(tensor), SIZES[self.dtype]
        piece = PIECE // size if self.way == "store" else 1
        extents = [*self.shape[:-1], -(-self.shape[-1] // piece) * piece]
        for place, index in zip(self._places(), np.ndindex(*self.box), strict=True):
            there = [c + i for c, i in zip(self.corner, index, strict=True)]
            inside = all(0 <= x < n for x, n in zip(there, extents, strict=True))
            first = sum(x * s for x, s in zip(there, tensor.strides, strict=True))
            if self.way == "load":
                shared[place : place + size] = global_[first : first + size] if inside else 0
            elif inside:
                global_[first : first + size] = shared[place : place + size]
        return {"out": shared} if self.way == "load" else {"dst": global_}

    def _places(self) -> np.ndarray:
        """The byte in shared memory of every element of the box, in its order."""
        rows, size = math.prod(self.box[:-1]), SIZES[self.dtype]
        pitch = max(Box(self.dtype, self.box).row, self.swizzle)
        plain = self.at + np.arange(rows)[:, None] * pitch + np.arange(self.box[-1]) * size
        mask = max(1, self.swizzle // 16) - 1
        return (plain ^ (((plain >> 7) & mask) << 4)).reshape(-1)


def _times(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


HALVES, FLOATS, WIDE = ("f16", (40, 72)), ("f32", (40, 36)), ("i8", (40, 160))
SQUARE = ("f16", (100, 72), (64, 64))


def _columns() -> list[Probe]:
    """First coordinates inside rows, at multiples of 16 bytes and not."""
    made = [Probe("load", *HALVES, (16, 64), (2, c), 128) for c in (1, 2, 4, 7, 8, 12, -3, -8)]
    made += [Probe("load", *HALVES, (16, 32), (2, c), 64) for c in (1, 7, 8)]
    made += [Probe("load", *HALVES, (16, 16), (2, c), 32) for c in (1, 7, 8)]
    made += [Probe("load", *HALVES, (16, 32), (2, c)) for c in (7, 8)]
    made += [Probe("load", *FLOATS, (16, 32), (2, c)) for c in (1, 3, 4, -1, -4)]
    made += [Probe("load", *FLOATS, (16, 32), (2, c), 128) for c in (1, 4)]
    made += [Probe("load", *WIDE, (16, 128), (2, c), 128) for c in (1, 5, 16)]
    made += [Probe("load", *WIDE, (16, 64), (2, c)) for c in (3, 16)]
    made += [Probe("load", "i32", (1000,), (256,), (c,)) for c in (901, 900)]
    made += [Probe("load", "f16", (5, 20, 40), (2, 8, 32), (4, 14, c)) for c in (23, 24)]
    made += [Probe("load", d, (40, 48), (8, 16), (2, c)) for d in ("i64", "f64") for c in (0, 1)]
    made += [Probe("load", d, (40, 48), (8, 32), (2, c)) for d in ("bf16", "u8") for c in (0, 1, 8)]
    made += [Probe("store", *HALVES, (16, 64), (2, c), 128) for c in (7, 8)]
    made += [Probe("store", *FLOATS, (16, 32), (2, c)) for c in (3, 4)]
    made += [Probe("store", *WIDE, (16, 64), (2, c)) for c in (3, 16)]
    return made


def _narrow() -> list[Probe]:
    """Rows that are narrower than the swizzle, at columns that are multiples of 16 bytes and not."""
    boxes = ((16, 32, 128), (16, 16, 128), (16, 8, 128), (16, 8, 32), (16, 16, 64), (16, 8, 64))
    made = [Probe("load", *HALVES, (r, c), (2, 8), s) for r, c, s in (*boxes, (5, 32, 128))]
    made += [
        Probe("load", *HALVES, (16, 32), c, 128) for c in ((2, 0), (30, 56), (2, 7), (2, 1), (2, 4))
    ]
    made += [Probe("load", *HALVES, (16, 24), (-2, -8), 128), Probe("load", *HALVES, (3, 8), (0, 0), 32)]
    made += [Probe("load", *HALVES, (16, 32), (2, 8), 128, at=128)]
    made += [Probe("load", *FLOATS, (16, 16), (2, 4), 128)]
    made += [Probe("load", *WIDE, (16, 48), (2, 16), s) for s in (64, 128)]
    made += [Probe("load", "f16", (6, 20, 40), (2, 8, 32), (1, 3, 8), 128)]
    made += [Probe("load", "f16", (1000,), (32,), (8,), 128)]
    made += [Probe("store", *HALVES, (16, c), (2, 8), s) for c, s in ((32, 128), (8, 128), (8, 32))]
    made += [Probe("store", *HALVES, (16, 32), (2, 7), 128)]
    made += [
        Probe("store", *HALVES, (16, 24), (30, 56), 64),
        Probe("store", *WIDE, (16, 48), (2, 16), 64),
    ]
    return made


def _outside() -> list[Probe]:
    """Boxes that begin before the tensor, or lie outside it altogether."""
    before = ((-3, -8), (-3, 0), (0, -8), (-3, 8), (3, -8), (-1, 0))
    beyond = ((-64, 0), (0, -64), (100, 0), (0, 72), (1000000, 0), (-1000000, 0))
    far = ((0, 8000000), (0, -8000000), (2147483000, 0), (-2147483000, 0), (0, 2147483520))
    made = [Probe("load", *SQUARE, c, 128) for c in (*before, *beyond, *far)]
    made += [Probe("store", *SQUARE, c, 128) for c in (*before, *beyond, *far)]
    made += [Probe("store", *HALVES, (16, 32), c) for c in ((-3, 0), (0, -8), (-1, -8))]
    made += [Probe("store", *FLOATS, (16, 32), c) for c in ((-3, 0), (0, -4))]
    made += [Probe("store", "i32", (1000,), (256,), (c,)) for c in (-4, -256, 1000)]
    corners = ((-1, 2, 0), (0, -2, 0), (0, 0, -8))
    made += [Probe("store", "f16", (5, 20, 40), (2, 8, 32), c) for c in corners]
    made += [Probe("store", *WIDE, (16, 64), (0, -16))]
    return made


def _places() -> list[Probe]:
    """Bytes in shared memory where a box begins."""
    made = [Probe("load", *HALVES, (16, 64), (2, 8), at=a) for a in (16, 32, 64, 128)]
    made += [Probe("load", *HALVES, (16, 64), (2, 8), 128, at=a) for a in (16, 64, 128, 256, 512)]
    made += [Probe("load", *HALVES, (16, 32), (2, 8), 64, at=a) for a in (128, 256)]
    made += [Probe("store", *HALVES, (16, 64), (2, 8), 128, at=256)]
    made += [Probe("store", *HALVES, (16, 64), (2, 8), at=a) for a in (16, 128)]
    return made


def _ends() -> list[Probe]:
    """Ends of rows that are no multiples of 16 bytes, with the bytes behind them."""
    made = [Probe("store", "f16", (40, 61), (16, 32), c, gap=6) for c in ((2, 32), (2, 8), (30, 56))]
    made += [Probe("store", "f16", (40, 61), (16, 64), (2, 8), 128, gap=g) for g in (6, 22)]
    made += [Probe("store", "i8", (40, 83), (16, 48), (2, 48), gap=g) for g in (13, 29, 45)]
    made += [Probe("store", "i8", (40, 81), (16, 48), (2, c), gap=15) for c in (48, 80, 96)]
    made += [Probe("store", "f32", (40, 33), (16, 32), (2, 4), gap=12)]
    made += [Probe("store", "f64", (40, 17), (8, 16), (2, 4), gap=8)]
    made += [Probe("store", "f16", (40, 3), (16, 8), (0, 0), gap=10)]
    made += [Probe("store", "f16", (5, 20, 37), (2, 8, 32), (1, 14, 8), gap=6)]
    made += [Probe("store", "i8", (1000,), (256,), (768,), gap=40)]
    made += [Probe("store", "i32", (1001,), (256,), (900,), gap=44)]
    made += [Probe("store", "f16", (1001,), (64,), (1000,), gap=46)]
    return made


PROBES = {p.name: p for p in (*_columns(), *_narrow(), *_outside(), *_places(), *_ends())}
"""By name."""
