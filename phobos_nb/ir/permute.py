"""Permuting bytes with shifts and masks, as CUDA's `__byte_perm` does."""

from __future__ import annotations

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import SSAValue

from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects.shapes import with_element


def byte_permute(builder: Builder, low: SSAValue, high: SSAValue, selector: SSAValue) -> SSAValue:
    """Byte k of the result is the one of the eight that bits 4k to 4k+2 of the selector name.

    Bytes 0-3 are those of `low`, 4-7 those of `high`; i32 scalars or tiles of one shape.
    """
    wide = with_element(low.type, i64)

    def number(value: int) -> SSAValue:
        return builder.constant(value, wide)

    pool = builder.ori(builder.extui(low, i64), builder.shli(builder.extui(high, i64), number(32)))
    picks = builder.extui(selector, i64)
    result = number(0)
    for position in range(4):
        digit = builder.andi(builder.shrui(picks, number(4 * position)), number(7))
        byte = builder.andi(builder.shrui(pool, builder.shli(digit, number(3))), number(0xFF))
        result = builder.ori(builder.shli(byte, number(8 * position)), result)
    return builder.trunci(result, i32)
