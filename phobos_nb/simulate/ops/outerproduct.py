"""The FMA core: `acc[i, j] = fma(lhs[i], rhs[j], acc[i, j])` for all lanes at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Operation

from phobos_nb.ir.dialects.vector import OuterProductOp
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.numerics import F64, fma
from phobos_nb.simulate.ops.common import reusable, static_shape
from phobos_nb.simulate.program import Decoder, Step, element_dtype
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Array

BLOCK = 1 << 15
"""Elements that are computed together: two f64 temporaries of this size stay in the L2 cache."""


def outerproduct(d: Decoder, op: Operation) -> Step:
    """The row of `vector.outerproduct`; in place where nobody else sees the accumulator."""
    assert isinstance(op, OuterProductOp)
    a, b, r = d.slot(op.lhs), d.slot(op.rhs), d.slot(op.result)
    c = None if op.acc is None else d.slot(op.acc)
    dtype = element_dtype(op.result.type)
    rows = static_shape(op.lhs.type)[0]
    scalar_rhs = not static_shape(op.rhs.type)
    in_place = op.acc is not None and reusable(op.acc)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        left, right = v[a], v[b]
        right = np.asarray(right, dtype)[None] if scalar_rhs else right
        if c is None:
            out = np.multiply(left[:, None], right)
        elif dtype.kind in "iu" or dtype == F64:
            product: Any = fma if dtype == F64 else _wrapping
            out = product(left[:, None], right, v[c][:, None] if scalar_rhs else v[c], dtype)
        else:
            acc = v[c][:, None] if scalar_rhs else v[c]
            count = max(left.shape[-1], right.shape[-1], acc.shape[-1])
            free = in_place and acc.base is None and acc.shape[-1] == count
            out = acc if free else np.empty((rows, right.shape[0], count), dtype)
            _multiply_add(left, right, acc, out)
        v[r] = out[:, 0] if scalar_rhs else out

    return step


def _wrapping(a: Array, b: Array, c: Array, dtype: Any) -> Array:
    del dtype
    return a * b + c


def _multiply_add(left: Array, right: Array, acc: Array, out: Array) -> None:
    """`out = left[:, None] * right + acc` in f64, rounded once to the type of `out`."""
    rows, columns, count = out.shape
    wide_left, wide_right = left.astype(F64)[:, None], right.astype(F64)
    step = max(1, BLOCK // (columns * count))
    scratch = np.empty((2, min(step, rows), columns, count), F64)
    for i in range(0, rows, step):
        n = min(step, rows - i)
        product, sums = scratch[0, :n], scratch[1, :n]
        np.multiply(wide_left[i : i + n], wide_right, out=product)
        sums[...] = acc[i : i + n]
        product += sums
        out[i : i + n] = product
