"""Matrix descriptors of wgmma: which byte of shared memory holds which element of an operand.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout", and measurements on an
H200, `results/h200_tensor_cores.json`. Memory is cut into pieces of 16 bytes. An operand that runs along
k (K-major) has, for each row of m or n, pieces along k; one that runs along m or n (MN-major) has, for
each k, pieces along m or n. Eight rows (or eight k) of `width` pieces follow each other without a gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from phobos_nb.simulate.values import Ints

PIECE = 16
"""Bytes that stay together."""
GROUP = 8
"""Rows, or k of an MN-major operand, that follow each other without a gap."""
WIDTHS = (1, 8, 4, 2)
"""Pieces per row of a group by the descriptor's mode: no swizzle, 128, 64 and 32 bytes."""
MASKS = (0, 7, 3, 1)
"""How many bits of a piece's number the swizzle changes, by mode."""
NAMES = ("no swizzle", "128-byte swizzle", "64-byte swizzle", "32-byte swizzle")
ADDRESS_BITS = 14
RESERVED = 0x3FF1_C000_C000_C000
"""Bits of a descriptor that mean nothing and have to be zero."""


@dataclass(frozen=True)
class Descriptor:
    """The fields of a matrix descriptor, in bytes."""

    start: int
    leading: int
    stride: int
    base: int
    mode: int

    @classmethod
    def of(cls, bits: int) -> Descriptor:
        """Take a 64-bit descriptor apart."""

        def field(low: int) -> int:
            return (bits >> low & (1 << ADDRESS_BITS) - 1) * PIECE

        return cls(field(0), field(16), field(32), bits >> 49 & 7, bits >> 62 & 3)

    def __str__(self) -> str:
        return (
            f"start {self.start}, leading {self.leading}, stride {self.stride}, "
            f"{NAMES[self.mode]}, base offset {self.base}"
        )


def addresses(d: Descriptor, shape: tuple[int, int], itemsize: int, *, mn_major: bool) -> Ints:
    """The byte address in shared memory of each element [mn, k] of an operand."""
    plain = d.start + offsets(d.mode, d.leading, d.stride, shape, itemsize, mn_major)
    return swizzled(plain, d.mode, d.base)


def swizzled(address: Ints, mode: int, base: int = 0) -> Ints:
    """Exchange pieces: bits 4 and up, xor with those from bit 7 on, less the base offset.

    The address itself decides, not the place in the operand (so on an H200).
    """
    return address ^ ((address >> 7) - base & MASKS[mode]) << 4


@lru_cache(maxsize=64)
def offsets(
    mode: int, leading: int, stride: int, shape: tuple[int, int], itemsize: int, mn_major: bool, /
) -> Ints:
    """Where each element lies from the start of an operand, before the swizzle."""
    mn, k = np.arange(shape[0])[:, None], np.arange(shape[1])[None]
    row = WIDTHS[mode] * PIECE
    if not mn_major:
        rows = mn % GROUP * row + mn // GROUP * stride
        if mode:
            return rows + k * itemsize
        return rows + k * itemsize // PIECE * leading + k * itemsize % PIECE
    within, chunk = mn * itemsize % row, mn * itemsize // row
    far, near = (leading, stride) if mode else (stride, leading)
    return within + chunk * far + k % GROUP * row + k // GROUP * near


@dataclass(frozen=True)
class Placed:
    """An operand in shared memory of `size` bytes: its descriptor, rows of m or n, depth, itemsize."""

    bits: int
    rows: int
    depth: int
    itemsize: int
    mn_major: bool
    size: int

    @property
    def start(self) -> int:
        """The first byte that it reads."""
        return _placed(self)[2]

    @property
    def end(self) -> int:
        """One past the last byte that it reads."""
        return _placed(self)[1]


@lru_cache(maxsize=256)
def _placed(p: Placed, /) -> tuple[Ints, int, int]:
    found = addresses(Descriptor.of(p.bits), (p.rows, p.depth), p.itemsize, mn_major=p.mn_major)
    return np.minimum(found, p.size - p.itemsize), int(found.max()) + p.itemsize, int(found.min())


def addresses_in(p: Placed) -> Ints:
    """The byte address of each element, clipped to the memory."""
    return _placed(p)[0]


@lru_cache(maxsize=1024)
def units_in(p: Placed, rows: tuple[int, int], unit: int, /) -> Ints:
    """The units of `unit` bytes, no more than an element has, that some rows lie in, each once."""
    found = addresses_in(p)[rows[0] : rows[1]].reshape(-1, 1) + np.arange(0, p.itemsize, unit)
    return np.unique(found // unit)
