"""The matrix products `dot` and `dot_t`: operand types, shapes and the NumPy meaning.

The order in which the products are summed is not defined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.dtypes import F32, F64, I32, DType
from phobos_nb.language.meaning.conversion import numpy_dtype
from phobos_nb.language.registry import CallSite
from phobos_nb.language.typed import Call, Expr
from phobos_nb.language.types import TileType

Array = NDArray[Any]


def check(transposed: bool) -> Callable[[CallSite], Call]:
    """A check for two tiles [M, K] and [K, N], or [N, K] where `transposed`."""

    def checked(site: CallSite) -> Call:
        operands.expect_count(site, 2)
        left, right = operands.rows(site, 0), operands.tile(site, 1, rank=2)
        left, right = _operands(site, left, right)
        m, k = operands.shape_of(left)
        n, depth = operands.shape_of(right) if transposed else operands.shape_of(right)[::-1]
        if k != depth:
            raise site.diagnostics.error(
                "PH204",
                f"{site.name} contracts {k} with {depth}: {left.type} and {right.type}",
                site.span,
                help="" if transposed else "dot_t(a, b) takes b transposed",
            )
        return Call(
            type=TileType(_result(operands.dtype_of(left)), (m, n)),
            span=site.span,
            builtin=site.name,
            arguments=(left, right),
        )

    return checked


def _operands(site: CallSite, left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """Floats get a common dtype; integers up to 32 bits stay as stored."""
    kinds = [operands.wanted_dtype(site, e, "number") for e in (left, right)]
    if any(d.is_float for d in kinds):
        left, right = operands.common(site, [left, right])
    elif any(d.bits > 32 for d in kinds):
        raise site.diagnostics.error(
            "PH104",
            f"{site.name} of integers sums in i32, found {left.type} and {right.type}",
            site.span,
            help="convert the operands with i32(...) or f64(...)",
        )
    return left, right


def _result(dtype: DType) -> DType:
    if dtype.is_float:
        return F64 if dtype == F64 else F32
    return I32


def product(machine: Any, left: Array, right: Array, result: DType) -> Array:
    """Left @ right summed in `result`; `machine.rounding` rounds f32 operands to f16 first."""
    if not result.is_float:
        return _integer_product(left, right)
    if machine.rounding and left.dtype == np.float32:
        left, right = left.astype(np.float16), right.astype(np.float16)
    working = numpy_dtype(result)
    return left.astype(working, copy=False) @ right.astype(working, copy=False)


def _integer_product(left: Array, right: Array) -> Array:
    """Exact modulo 2**32: 8-bit operands go through f64, where every partial sum is exact."""
    narrow = left.dtype.itemsize == 1 and right.dtype.itemsize == 1
    working = np.float64 if narrow else np.int64
    total = left.astype(working) @ right.astype(working)
    return total.astype(np.int64).astype(np.int32)
