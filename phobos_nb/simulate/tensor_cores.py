"""Sums as the tensor cores make them, bit by bit.

A block of products and the accumulator are aligned to the largest exponent among them, each is cut
off below a fixed number of fraction bits, and their exact sum is rounded toward zero to f32, or to
nearest even to f16. Exponents of products are the sums of their factors', not normalised. Source:
P. Xie et al., "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores",
arXiv:2511.10909, checked there bit for bit against the hardware. f64 is a chain of fused
multiply-adds, integers wrap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phobos_nb.simulate.numerics import F64, fma
from phobos_nb.simulate.values import Array, DTypeLike

Floats = NDArray[np.float64]
ZERO_EXPONENT = -126
"""The exponent that a zero counts with."""
LOWEST = {"float16": -14, "bfloat16": -126, "float32": -126}
"""Exponents of subnormal numbers."""


@dataclass(frozen=True)
class Core:
    """A generation's fused sum: bytes of operand per block, and fraction bits that are kept."""

    block_bytes: int
    fraction: int


CORES = {
    "sm_70": Core(8, 23),
    "sm_75": Core(16, 24),
    "sm_80": Core(16, 24),
    "sm_86": Core(16, 24),
    "sm_89": Core(16, 24),
    "sm_90a": Core(32, 25),
    "sm_100": Core(32, 25),
    "sm_120": Core(32, 25),
}


def multiply_accumulate(
    target: str, a: Array, b: Array, c: Array, operand: DTypeLike, result: DTypeLike
) -> Array:
    """`a @ b + c` of matrices [warps, m, k], [warps, k, n] and [warps, m, n] in `result`.

    `a` and `b` hold values of type `operand` (tf32 as f32 with the low bits cleared) in f64.
    """
    if operand.kind == "i":
        return (np.matmul(a.astype(np.int64), b.astype(np.int64)) + c.astype(np.int64)).astype(result)
    if operand == F64:
        for k in range(a.shape[2]):
            c = fma(a[:, :, k, None], b[:, k, None, :], c, F64)
        return c
    core = CORES[target]
    length = max(1, core.block_bytes // operand.itemsize)
    for start in range(0, a.shape[2], length):
        part = slice(start, start + length)
        left, right = a[:, :, None, part], np.swapaxes(b[:, part], 1, 2)[:, None]
        c = _fused_sum(left, right, c, core.fraction, operand, result)
    return c


def _fused_sum(
    left: Floats, right: Floats, c: Array, fraction: int, operand: DTypeLike, result: DTypeLike
) -> Array:
    """One block: operands [warps, m or 1, n or 1, length], accumulator [warps, m, n]."""
    products, start = left * right, c.astype(np.float64)
    lowest = LOWEST[operand.name]
    exponents = _exponent(left, lowest) + _exponent(right, lowest)
    exponents = np.where(products == 0, ZERO_EXPONENT, exponents)
    own = np.where(start == 0, ZERO_EXPONENT, _exponent(start, LOWEST[result.name]))
    shift = fraction - np.maximum(exponents.max(3), own)
    kept = np.trunc(np.ldexp(products, shift[..., None])).sum(3) + np.trunc(np.ldexp(start, shift))
    total = np.ldexp(kept, -shift)
    return total.astype(result) if result.itemsize == 2 else toward_zero(total)


def _exponent(values: Floats, lowest: int) -> NDArray[np.int32]:
    """The exponent e of values 1.x * 2**e, no less than that of subnormal numbers."""
    _, exponents = np.frexp(values)
    return np.maximum(exponents - 1, lowest)


def toward_zero(values: Floats) -> NDArray[np.float32]:
    """F64 rounded to f32 toward zero; infinite from 2**128 on."""
    near = values.astype(np.float32)
    too_far = (np.abs(near) > np.abs(values)) & (np.abs(values) < 2.0**128)
    return np.where(too_far, np.nextafter(near, np.float32(0)), near)
