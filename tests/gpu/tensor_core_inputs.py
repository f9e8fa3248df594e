"""Inputs for tensor cores, the same on every machine: random bits, and classes that look for trouble.

Numbers are raw bits, u16, u32 or u64; a tf32 has its 13 low bits clear.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Format:
    """A float format: bits of exponent and mantissa, bits of storage, dtype of the bits."""

    exponent: int
    mantissa: int
    storage: int

    @property
    def dtype(self):
        """The unsigned type that holds the bits."""
        return np.dtype(f"u{self.storage // 8}")

    @property
    def bias(self) -> int:
        """What is added to an exponent."""
        return (1 << self.exponent - 1) - 1

    @property
    def top(self) -> int:
        """The largest exponent of a number, with the bias."""
        return (1 << self.exponent) - 2

    @property
    def sign(self):
        """The sign's bit."""
        return self.dtype.type(1 << self.storage - 1)

    @property
    def unit(self) -> int:
        """The place of the mantissa's last bit."""
        return self.storage - 1 - self.exponent - self.mantissa

    def compose(self, sign, exponent, mantissa):
        """Bits from sign, biased exponent and mantissa."""
        parts = (
            (sign, self.storage - 1),
            (exponent, self.mantissa + self.unit),
            (mantissa, self.unit),
        )
        word = np.uint64(0)
        for value, place in parts:
            word = word | np.asarray(value).astype(np.uint64) << np.uint64(place)
        return word.astype(self.dtype)


FORMATS = {
    "f16": Format(5, 10, 16),
    "bf16": Format(8, 7, 16),
    "tf32": Format(8, 10, 32),
    "f32": Format(8, 23, 32),
    "f64": Format(11, 52, 64),
}


class Draw:
    """Random numbers of one format from a generator."""

    def __init__(self, rng, format_: Format) -> None:
        self.rng = rng
        self.format = format_

    def flags(self, shape):
        """Zeros and ones."""
        return self.rng.integers(0, 2, shape, dtype=np.int64)

    def raw(self, shape):
        """Any bits."""
        f = self.format
        words = self.rng.integers(0, 1 << 32, (*shape, 2), dtype=np.int64).astype(np.uint64)
        word = words[..., 0] << np.uint64(32) | words[..., 1]
        return (word >> np.uint64(64 - f.storage + f.unit) << np.uint64(f.unit)).astype(f.dtype)

    def between(self, shape, low, high, bits=None):
        """Numbers whose biased exponent lies in a range; `bits` keeps only the first of the mantissa."""
        f = self.format
        low, high = (min(max(x, 0), f.top) for x in (low, high))
        mantissa = self.rng.integers(0, 1 << f.mantissa, shape, dtype=np.int64)
        if bits is not None:
            mantissa &= -1 << f.mantissa - bits
        exponent = self.rng.integers(low, high + 1, shape, dtype=np.int64)
        return f.compose(self.flags(shape), exponent, mantissa)

    def near(self, shape, low, high, bits=None):
        """Numbers between 2**low and 2**(high + 1)."""
        bias = self.format.bias
        return self.between(shape, bias + low, bias + high, bits)

    def sparse(self, shape, chance):
        """Zeros of both signs, with ones strewn in."""
        f = self.format
        exponent = np.where(self.rng.random(shape) < chance, f.bias, 0)
        return f.compose(self.flags(shape), exponent, 0)

    def spoiled(self, values):
        """Infinities, NaN and zeros strewn in."""
        f, kind = self.format, self.rng.random(values.shape)
        sign = self.flags(values.shape)
        payload = self.rng.integers(1, 1 << f.mantissa, values.shape, dtype=np.int64)
        values = np.where(kind > 0.9, f.compose(sign, 0, 0), values)
        values = np.where(kind < 0.025, f.compose(sign, f.top + 1, payload), values)
        return np.where(kind < 0.02, f.compose(sign, f.top + 1, 0), values)


def any_bits(a, b, c, shapes):
    """Random bits: infinities, NaN and subnormals among them."""
    return tuple(d.raw(s) for d, s in zip((a, b, c), shapes, strict=True))


def any_finite(a, b, c, shapes):
    """Exponents over the whole range."""
    return tuple(d.between(s, 0, d.format.top) for d, s in zip((a, b, c), shapes, strict=True))


def cancelling(a, b, c, shapes):
    """The second half of k takes back the first, but for last bits; small accumulators stay."""
    left, right = a.near(shapes[0], -1, 1), b.near(shapes[1], -1, 1)
    half = shapes[0][1] // 2
    left[:, half:] = left[:, :half]
    right[half:] = right[:half] ^ b.format.sign
    last = b.format.dtype.type(1 << b.format.unit)
    right = np.where(b.rng.random(shapes[1]) < 0.25, right ^ last, right)
    small = b.rng.random(shapes[2]) < 0.5
    return left, right, np.where(small, c.near(shapes[2], -30, -8), c.near(shapes[2], -3, 3))


def few_bits(a, b, c, shapes):
    """Short mantissas, exponents far apart: where the sum is cut off."""
    return a.near(shapes[0], -13, 12, 3), b.near(shapes[1], -13, 12, 3), c.near(shapes[2], -26, 26)


def subnormal(a, b, c, shapes):
    """Operands and accumulators at the lower end of their range."""
    right = np.where(b.flags(shapes[1]) == 0, b.between(shapes[1], 0, 3), b.near(shapes[1], -4, 4))
    return a.between(shapes[0], 0, 3), right, c.between(shapes[2], 0, 12)


def zeros(a, b, c, shapes):
    """Signed zeros, some sums of nothing but -0."""
    left, right, start = a.sparse(shapes[0], 0.08), b.sparse(shapes[1], 0.3), c.sparse(shapes[2], 0.1)
    if a.flags(()):
        left, start, right = left | a.format.sign, start | c.format.sign, right & ~b.format.sign
    return left, right, start


def special(a, b, c, shapes):
    """Infinities and NaN among small numbers."""
    return tuple(d.spoiled(d.near(s, -2, 2)) for d, s in zip((a, b, c), shapes, strict=True))


def overflowing(a, b, c, shapes):
    """Products and accumulators around the largest number."""
    high = (a.format.bias + a.format.top) // 2
    top = c.format.top
    narrow = a.format.exponent < c.format.exponent
    start = c.near(shapes[2], 26, 34) if narrow else c.between(shapes[2], top - 3, top)
    return a.between(shapes[0], high - 2, high + 1), b.between(shapes[1], high - 2, high + 1), start


def one_large(a, b, c, shapes):
    """One large factor in each row, at any k: which products share a sum."""
    left = a.near(shapes[0], -6, -2)
    rows = np.arange(shapes[0][0])
    left[rows, a.rng.integers(0, shapes[0][1], len(rows))] = a.near((len(rows),), 4, 14)
    return left, b.near(shapes[1], -6, -2), c.near(shapes[2], -16, 18)


def vanishing(a, b, c, shapes):
    """Sums around the smallest number, zeros among the factors of every other call."""
    lowest = 1 - c.format.bias - c.format.mantissa
    left, right = (
        a.near(shapes[0], lowest // 2 - 3, lowest // 2 + 3),
        b.near(shapes[1], lowest // 2 - 3, lowest // 2 + 3),
    )
    if a.flags(()):
        left = np.where(a.rng.random(shapes[0]) < 0.2, 0, left).astype(left.dtype)
    start = np.where(c.rng.random(shapes[2]) < 0.5, 0, c.between(shapes[2], 0, 1))
    return left, right, start.astype(c.format.dtype)


def large_accumulator(a, b, c, shapes):
    """Accumulators above the products."""
    return a.near(shapes[0], -8, 0), b.near(shapes[1], -8, 0), c.near(shapes[2], -6, 24)


def ordinary(a, b, c, shapes):
    """Numbers around one."""
    return a.near(shapes[0], -3, 0), b.near(shapes[1], -3, 0), c.near(shapes[2], -3, 3)


CLASSES = {
    f.__name__: f
    for f in (
        *(any_bits, any_finite, cancelling, few_bits, subnormal, zeros),
        *(special, overflowing, one_large, vanishing, large_accumulator, ordinary),
    )
}


def integers(rng, shapes):
    """Random i8 operands and i32 accumulators; a quarter of the calls has the extremes alone."""
    a, b = (rng.integers(-128, 128, s, dtype=np.int64).astype(np.int8) for s in shapes[:2])
    c = rng.integers(-(2**31), 2**31, shapes[2], dtype=np.int64).astype(np.int32)
    if rng.integers(0, 4) == 0:
        a[:], b[:] = -128, -128
        c[rng.random(shapes[2]) < 0.5] = 2**31 - 1
    return a, b, c


def batch(name: str, operand: str, sums: str, shapes, per_class: int):
    """Matrices a, b and c of `per_class` products of every class, each [products, rows, columns]."""
    words = np.frombuffer(name.encode().ljust(64, b"_")[:64], np.uint32).tolist()
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))
    if operand == "i8":
        made = [integers(rng, shapes) for _ in range(per_class * len(CLASSES))]
    else:
        names = ("tf32" if operand == "f32" else operand,) * 2 + (sums,)
        draws = [Draw(rng, FORMATS[n]) for n in names]
        made = [f(*draws, shapes) for f in CLASSES.values() for _ in range(per_class)]
    return tuple(np.stack([one[k] for one in made]) for k in range(3))
