"""Random tensors, boxes of them and where these begin."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from tests.async_text import DTYPES, NUMPY, SIZES

PIECE, LONGEST, MOST_BYTES = 16, 256, 4096
SWIZZLES = (0, 32, 64, 128)


@dataclass(frozen=True)
class Box:
    """What a bulk copy moves: extents outermost first, elements' type."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def row(self) -> int:
        """Bytes of the innermost axis."""
        return self.shape[-1] * SIZES[self.dtype]

    @property
    def bytes(self) -> int:
        """Of the whole box."""
        return math.prod(self.shape) * SIZES[self.dtype]

    def placed(self, swizzle: int) -> int:
        """Bytes of shared memory that it takes: rows are as far apart as the swizzle is wide."""
        return math.prod(self.shape[:-1]) * max(self.row, swizzle)


def draw(rng: Generator, choices: tuple[int, ...] | tuple[str, ...]) -> int | str:
    """One of some."""
    return choices[int(rng.integers(len(choices)))]


def draw_box(rng: Generator) -> Box:
    """1 to 5 axes, rows of whole 16-byte pieces, at most 4096 bytes."""
    dtype = str(draw(rng, DTYPES))
    axes, size = int(rng.integers(1, 6)), SIZES[dtype]
    pieces = int(draw(rng, (1, 2, 3, 4, 5, 8, 8, 8, 16)))
    inner = min(pieces * PIECE // size, LONGEST // (PIECE // size) * (PIECE // size))
    shape, left = [inner], MOST_BYTES // (inner * size)
    for axis in range(axes - 1):
        most = left if axis == axes - 2 else math.ceil(left ** (1 / (axes - 1 - axis)))
        shape.append(int(rng.integers(1, max(2, min(most, LONGEST) + 1))))
        left //= shape[-1]
    return Box(dtype, tuple(reversed(shape)))


def draw_swizzle(rng: Generator, box: Box) -> int:
    """One that takes rows of this width."""
    fitting = tuple(s for s in SWIZZLES if not s or box.row == s)
    return int(draw(rng, fitting))


def with_gaps(shape: tuple[int, ...], dtype: str, gap: int, value: int = 1) -> np.ndarray:
    """An array of one value with some more bytes behind each row, all 85."""
    size = SIZES[dtype]
    pitch = shape[-1] * size + gap
    strides = [math.prod(shape[a + 1 : -1]) * pitch for a in range(len(shape) - 1)]
    bytes_ = np.full(math.prod(shape[:-1]) * pitch, 85, np.uint8)
    made = np.ndarray(shape, NUMPY[dtype], bytes_, 0, [*strides, size])
    made[...] = value
    return made


def draw_bits(rng: Generator, number: int) -> np.ndarray:
    """Random bytes that begin anew after 1009 of them, a prime: stored kernels stay small."""
    return np.resize(rng.integers(0, 256, 1009, np.uint8), number)


def draw_tensor(rng: Generator, box: Box, times: int, inner: int = 0) -> np.ndarray:
    """An array of random bits with room for about `times` boxes along its first axis.

    Its rows begin 16 bytes or more apart, with holes between rows and between planes. `inner` is its
    innermost extent, where that is not random.
    """
    size = SIZES[box.dtype]
    shape = [max(1, n + int(rng.integers(-2, n // 2 + 3))) for n in box.shape]
    shape[0] = max(1, shape[0] + (times - 1) * box.shape[0])
    shape[-1] = inner or shape[-1]
    strides, reach = [size], shape[-1] * size
    for extent in reversed(shape[:-1]):
        stride = -(-reach // PIECE) * PIECE + PIECE * int(draw(rng, (0, 0, 1, 3)))
        strides.insert(0, stride)
        reach = stride * extent
    reach = -(-reach // PIECE) * PIECE + PIECE
    return np.ndarray(shape, NUMPY[box.dtype], draw_bits(rng, reach), 0, strides)


def draw_corner(rng: Generator, box: Box, shape: tuple[int, ...]) -> list[int]:
    """Where boxes begin that are loaded: outside is possible, in rows at a multiple of 16 bytes."""
    per = PIECE // SIZES[box.dtype]
    corner = [int(rng.integers(-(n // 2) - 1, max(1, m))) for n, m in zip(box.shape, shape, strict=True)]
    return [*corner[:-1], corner[-1] // per * per]


def draw_target(rng: Generator, box: Box, times: int) -> tuple[np.ndarray, list[int]]:
    """A tensor to store boxes to, one after the other along its first axis, and where the first begins.

    None begins before the tensor. Boxes reach over the ends of rows only if these are whole 16 bytes.
    """
    per = PIECE // SIZES[box.dtype]
    pieces, inside = box.shape[-1] // per, bool(rng.integers(2)) and len(box.shape) > 1
    first = int(rng.integers(0, 4))
    if inside:
        inner = first * per + box.shape[-1] + int(rng.integers(0, 2 * per))
    else:
        inner = per * int(rng.integers(max(1, first + pieces // 2), first + pieces + 2))
    if len(box.shape) == 1:
        length = per * max(1, first + pieces * times + int(rng.integers(-pieces, 3)))
        return draw_tensor(rng, box, 1, length), [first * per]
    tensor = draw_tensor(rng, box, times, inner)
    corner = [int(rng.integers(0, max(1, m))) for m in tensor.shape]
    return tensor, [int(rng.integers(0, 2)), *corner[1:-1], first * per]


def draw_steps(rng: Generator, box: Box) -> list[int]:
    """How far a box goes on along each axis, forth, back or not at all; by whole 16 bytes in rows."""
    per = PIECE // SIZES[box.dtype]
    steps = [int(rng.integers(-n, n + 1)) for n in box.shape]
    return [*steps[:-1], steps[-1] // per * per]
