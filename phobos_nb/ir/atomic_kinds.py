"""The numbers of `arith::AtomicRMWKind`, which `memref.atomic_rmw` stores.

Source: upstream MLIR 22, ArithBase.td; tests/ir/test_atomic_kinds.py asks its printer.
"""

from __future__ import annotations

from enum import IntEnum

from xdsl.dialects.vector import CombiningKindFlag


class AtomicKind(IntEnum):
    """What an atomic does with the old value and the operand."""

    ADDF = 0
    ADDI = 1
    ANDI = 2
    ASSIGN = 3
    MAXIMUMF = 4
    MAXNUMF = 5
    MAXS = 6
    MAXU = 7
    MINIMUMF = 8
    MINNUMF = 9
    MINS = 10
    MINU = 11
    MULF = 12
    MULI = 13
    ORI = 14
    XORI = 15


_BY_COMBINING = {
    CombiningKindFlag.MAXIMUMF: AtomicKind.MAXIMUMF,
    CombiningKindFlag.MAXSI: AtomicKind.MAXS,
    CombiningKindFlag.MAXUI: AtomicKind.MAXU,
    CombiningKindFlag.MINIMUMF: AtomicKind.MINIMUMF,
    CombiningKindFlag.MINSI: AtomicKind.MINS,
    CombiningKindFlag.MINUI: AtomicKind.MINU,
}


def atomic_kind(combining: CombiningKindFlag, *, is_float: bool) -> AtomicKind:
    """The atomic that combines as a reduction of that kind does: add, maxima and minima."""
    if combining is CombiningKindFlag.ADD:
        return AtomicKind.ADDF if is_float else AtomicKind.ADDI
    return _BY_COMBINING[combining]
