"""Closed intervals of integers and the interval form of every integer operation.

Values are read as signed. `bits` is the width of the operation's type: a result that leaves it has
wrapped, so nothing is known of it but the type's own range.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """All integers from lo to hi, both included."""

    lo: int
    hi: int

    def join(self, other: Interval) -> Interval:
        """The smallest interval that holds both."""
        return Interval(min(self.lo, other.lo), max(self.hi, other.hi))

    def within(self, other: Interval) -> bool:
        """Whether every value of this is in the other."""
        return other.lo <= self.lo and self.hi <= other.hi

    @property
    def natural(self) -> bool:
        """Whether no value is negative, so that signed and unsigned reading agree."""
        return self.lo >= 0

    @property
    def magnitude(self) -> int:
        """The largest absolute value."""
        return max(abs(self.lo), abs(self.hi))


def full(bits: int) -> Interval:
    """The range of a signed integer of that width; `bits` 1 is a flag, 0 or 1."""
    return Interval(0, 1) if bits == 1 else Interval(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def hull(*values: int) -> Interval:
    """The smallest interval that holds all of them."""
    return Interval(min(values), max(values))


INT32 = full(32)


def wrapped(exact: Interval, bits: int) -> Interval:
    """The exact result if it stays within the type, else the type's whole range."""
    return exact if exact.within(full(bits)) else full(bits)


def add(a: Interval, b: Interval, bits: int) -> Interval:
    """The range of a + b."""
    return wrapped(Interval(a.lo + b.lo, a.hi + b.hi), bits)


def sub(a: Interval, b: Interval, bits: int) -> Interval:
    """The range of a - b."""
    return wrapped(Interval(a.lo - b.hi, a.hi - b.lo), bits)


def mul(a: Interval, b: Interval, bits: int) -> Interval:
    """The range of a * b."""
    return wrapped(hull(a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi), bits)


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a >= 0) == (b >= 0) else -quotient


def _divisors(b: Interval) -> list[int]:
    """The divisors at which a quotient is extreme; dividing by zero has no meaning."""
    return [d for d in (b.lo, b.hi, -1, 1) if d != 0 and b.lo <= d <= b.hi]


def _quotients(a: Interval, b: Interval, bits: int, divide: Callable[[int, int], int]) -> Interval:
    found = [divide(n, d) for n in (a.lo, a.hi) for d in _divisors(b)]
    if not found:
        return full(bits)
    mixed = [0] if a.lo <= 0 <= a.hi else []
    return wrapped(hull(*found, *mixed), bits)


def divsi(a: Interval, b: Interval, bits: int) -> Interval:
    """The range of a / b, truncated."""
    return _quotients(a, b, bits, _truncated)


def floordivsi(a: Interval, b: Interval, bits: int) -> Interval:
    """The range of a / b, rounded down."""
    return _quotients(a, b, bits, lambda n, d: n // d)


def ceildivsi(a: Interval, b: Interval, bits: int) -> Interval:
    """The range of a / b, rounded up."""
    return _quotients(a, b, bits, lambda n, d: -(-n // d))


def divui(a: Interval, b: Interval, bits: int) -> Interval:
    """The range of a / b of the unsigned readings."""
    if not b.natural:
        return full(bits)
    if a.natural:
        return Interval(a.lo // max(b.hi, 1), a.hi // max(b.lo, 1))
    return wrapped(Interval(0, ((1 << bits) - 1) // max(b.lo, 1)), bits)


def ceildivui(a: Interval, b: Interval, bits: int) -> Interval:
    """The range of a / b of the unsigned readings, rounded up."""
    if not (a.natural and b.natural):
        return full(bits)
    return Interval(-(-a.lo // max(b.hi, 1)), -(-a.hi // max(b.lo, 1)))


def remui(a: Interval, b: Interval, bits: int) -> Interval:
    """The range of a % b of the unsigned readings."""
    if a.natural and b.natural and a.hi < b.lo:
        return a
    bounds = [x for x, known in ((a.hi, a.natural), (max(b.hi - 1, 0), b.natural)) if known]
    return Interval(0, min(bounds)) if bounds else full(bits)


def remsi(a: Interval, b: Interval, _bits: int) -> Interval:
    """The range of a % b with the sign of a."""
    most = max(b.magnitude - 1, 0)
    return Interval(max(min(a.lo, 0), -most), min(max(a.hi, 0), most))


def minsi(a: Interval, b: Interval, _bits: int) -> Interval:
    """The smaller, signed."""
    return Interval(min(a.lo, b.lo), min(a.hi, b.hi))


def maxsi(a: Interval, b: Interval, _bits: int) -> Interval:
    """The larger, signed."""
    return Interval(max(a.lo, b.lo), max(a.hi, b.hi))


def minui(a: Interval, b: Interval, bits: int) -> Interval:
    """The smaller of the unsigned readings; a negative value reads as a huge one."""
    if a.natural and b.natural:
        return minsi(a, b, bits)
    natural = [x.hi for x in (a, b) if x.natural]
    return Interval(0, natural[0]) if natural else a.join(b)


def maxui(a: Interval, b: Interval, bits: int) -> Interval:
    """The larger of the unsigned readings."""
    return maxsi(a, b, bits) if a.natural and b.natural else a.join(b)


def _bitwise(a: Interval, b: Interval) -> Interval:
    """What any bitwise operation of the two stays within: the widest operand's own bits."""
    width = max(x.bit_length() if x >= 0 else (~x).bit_length() for x in (a.lo, a.hi, b.lo, b.hi))
    lowest = 0 if a.natural and b.natural else -(1 << width)
    return Interval(lowest, (1 << width) - 1)


def andi(a: Interval, b: Interval, _bits: int) -> Interval:
    """The range of a & b."""
    natural = [x.hi for x in (a, b) if x.natural]
    return Interval(0, min(natural)) if natural else _bitwise(a, b)


def ori(a: Interval, b: Interval, _bits: int) -> Interval:
    """The range of a | b, and a ^ b as well."""
    return _bitwise(a, b)


def _shift_known(b: Interval, bits: int) -> bool:
    return b.lo >= 0 and b.hi < bits


def shli(a: Interval, b: Interval, bits: int) -> Interval:
    """The range of a << b."""
    if not _shift_known(b, bits):
        return full(bits)
    return wrapped(hull(*(x << s for x in (a.lo, a.hi) for s in (b.lo, b.hi))), bits)


def shrsi(a: Interval, b: Interval, bits: int) -> Interval:
    """The range of a >> b, arithmetic."""
    if not _shift_known(b, bits):
        return full(bits)
    return hull(*(x >> s for x in (a.lo, a.hi) for s in (b.lo, b.hi)))


def shrui(a: Interval, b: Interval, bits: int) -> Interval:
    """The range of a >> b, logical."""
    if not _shift_known(b, bits):
        return full(bits)
    if a.natural:
        return shrsi(a, b, bits)
    return wrapped(Interval(0, ((1 << bits) - 1) >> b.lo), bits)


def unsigned(a: Interval, bits: int) -> Interval:
    """The unsigned reading of a value of that width."""
    return a if a.natural else Interval(0, (1 << bits) - 1)
