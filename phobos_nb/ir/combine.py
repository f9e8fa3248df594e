"""Which combining operation a reduction, scan or atomic uses for a dtype."""

from __future__ import annotations

from xdsl.dialects.vector import CombiningKindFlag

from phobos_nb.dtypes import DType
from phobos_nb.ir.elementwise import is_unsigned


def combining_kind(op: str, dtype: DType) -> CombiningKindFlag:
    """`op` is add, max or min; float maxima and minima propagate NaN."""
    if op == "add":
        return CombiningKindFlag.ADD
    if dtype.is_float:
        return CombiningKindFlag.MAXIMUMF if op == "max" else CombiningKindFlag.MINIMUMF
    return CombiningKindFlag(f"{op}{'ui' if is_unsigned(dtype) else 'si'}")
