"""Sums as the tensor cores make them, bit by bit.

A block of products and the accumulator are aligned to the largest exponent among them, each is cut
off below a fixed number of fraction bits, and their exact sum is rounded toward zero to f32, or to
nearest even to f16. Exponents of products are the sums of their factors', not normalised. A zero sum is
+0, every NaN is the same. f64 is a chain of fused multiply-adds, integers wrap. How many bits and how
long a block is, and from where that is known, the target says; on an H200 23 million sums were equal
bit for bit (`results/h200_tensor_cores.json`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phobos_nb import target
from phobos_nb.simulate.numerics import F64, fma
from phobos_nb.simulate.values import Array, DTypeLike
from phobos_nb.target.facts import TensorCore

Floats = NDArray[np.float64]
LOWEST = {"float16": -14, "bfloat16": -126, "float32": -126}
"""Exponents of subnormal numbers."""


def wmma_block(name: str, operand: DTypeLike) -> int:
    """The bytes along k that WMMA sums at once: tf32 in smaller pieces than `mma.sync`."""
    core = target.get(name).tensor_core
    return core.wmma_tf32_bytes if operand == np.dtype(np.float32) else core.block_bytes


def multiply_accumulate(
    name: str,
    a: Array,
    b: Array,
    c: Array,
    operand: DTypeLike,
    result: DTypeLike,
    block: int = 0,
) -> Array:
    """`a @ b + c` of matrices [warps, m, k], [warps, k, n] and [warps, m, n] on a target, in `result`.

    `a` and `b` hold values of type `operand` (tf32 as f32 with the low bits cleared) in f64, or
    integers in i64. `block` is the bytes of a row that are summed at once, where not the target's.
    """
    if operand.kind == "i":
        return (np.matmul(a.astype(np.int64), b.astype(np.int64)) + c.astype(np.int64)).astype(result)
    if operand == F64:
        for k in range(a.shape[2]):
            c = _fma_f64(a[:, :, k, None], b[:, k, None, :], c)
        return c
    core = target.get(name).tensor_core
    length = max(1, (block or core.block_bytes) // operand.itemsize)
    for start in range(0, a.shape[2], length):
        part = slice(start, start + length)
        c = _fused_sum(a[:, :, part], b[:, part], c, core, operand, result)
    return c


def _fused_sum(
    a: Floats, b: Floats, c: Array, core: TensorCore, operand: DTypeLike, result: DTypeLike
) -> Array:
    """One block: operands [warps, m, length] and [warps, length, n], accumulator [warps, m, n]."""
    start = c.astype(np.float64)
    special = None
    if not (np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(start).all()):
        special = np.matmul(a, b) + start
        a, b, start = (np.where(np.isfinite(x), x, 0.0) for x in (a, b, start))
    largest = _largest_exponent(a, b, start, LOWEST[operand.name], LOWEST[result.name])
    shift = core.fraction_bits - np.maximum(largest, core.lowest_exponent)
    scale = np.ldexp(1.0, shift)
    kept = np.trunc(start * scale)
    product = np.empty_like(kept)
    for k in range(a.shape[2]):
        np.multiply(a[:, :, k, None], b[:, k, None, :], out=product)
        product *= scale
        np.trunc(product, out=product)
        kept += product
    kept *= np.ldexp(1.0, -shift)
    total: Array = kept.astype(result) if result.itemsize == 2 else toward_zero(kept)
    total += result.type(0)  # zero is +0, also where a negative sum vanishes
    return total if special is None else _with_special(total, special, result)


def _largest_exponent(
    a: Floats, b: Floats, c: Floats, lowest: int, lowest_of_sum: int
) -> NDArray[np.int32]:
    """The largest exponent of a product or the accumulator, [warps, m, n]; zeros have none.

    Exponents of products are the sums of their factors'.
    """
    left, right = _exponents(a, lowest), _exponents(b, lowest)
    largest = _exponents(c, lowest_of_sum)
    for k in range(a.shape[2]):
        pair = left[:, :, k, None] + right[:, k, None, :]
        np.maximum(largest, pair, out=largest)
    return largest.astype(np.int32)


ABSENT = -8192
"""The exponent of a zero: below every other, also when two are added."""


def _exponents(values: Floats, lowest: int) -> NDArray[np.int16]:
    """The exponent e of values 1.x * 2**e, no less than that of subnormal numbers; zeros far below."""
    _, exponents = np.frexp(values)
    found = np.maximum(exponents - 1, lowest).astype(np.int16)
    found[values == 0] = ABSENT
    return found


def _with_special(total: Array, special: Floats, result: DTypeLike) -> Array:
    """Infinities and NaN where a product or the accumulator is one; every NaN is the same."""
    total = np.where(np.isinf(special), special.astype(result), total)
    bits = total.view(f"u{result.itemsize}")
    bits[np.isnan(special)] = 0x7FFF if result.itemsize == 2 else 0x7FFFFFFF
    return bits.view(result)


QUIET = np.int64(1 << 51)
INVALID = np.array(0xFFF8000000000000, np.uint64).view(np.int64)
"""The NaN of an operation on numbers, as f64 bits."""


def _fma_f64(a: Floats, b: Floats, c: Floats) -> Floats:
    """One step of a chain; a NaN is that of b, else that of the sum, else that of a, made quiet."""
    total = np.asarray(fma(a, b, c, F64))
    wrong = np.isnan(total)
    if not wrong.any():
        return total
    bits = np.where(wrong, INVALID, np.ascontiguousarray(total).view(np.int64))
    for source in (a, c, b):
        wide = np.ascontiguousarray(np.broadcast_to(source, total.shape))
        bits = np.where(np.isnan(wide), wide.view(np.int64) | QUIET, bits)
    return bits.view(np.float64)


def toward_zero(values: Floats) -> NDArray[np.float32]:
    """F64 rounded to f32 toward zero; infinite from 2**128 on."""
    near = values.astype(np.float32)
    too_far = (np.abs(near) > np.abs(values)) & (np.abs(values) < 2.0**128)
    return np.where(too_far, np.nextafter(near, np.float32(0)), near)
