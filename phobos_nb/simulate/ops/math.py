"""Rows of the dialect `math`.

Transcendental functions are computed in f64 and rounded once to the type; the GPU's own are within
2 units in the last place of that (CUDA C++ Programming Guide, mathematical functions).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation

from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.numerics import erf, fma, in_f32, in_f64
from phobos_nb.simulate.ops.common import apply2, settle, unary
from phobos_nb.simulate.ops.integers import unsigned
from phobos_nb.simulate.program import Decoder, Row, Step, element_dtype
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Value, is_array


def _exact(function: Callable[[Any], Any]) -> Row:
    """A function whose result needs no rounding beyond the type's."""

    def row(d: Decoder, op: Operation) -> Step:
        dtype = element_dtype(op.results[0].type)
        rounded = in_f32(function, dtype)
        return unary(lambda x: settle(rounded(x), dtype))(d, op)

    return row


def _rounded(function: Callable[..., Any]) -> Row:
    """A function computed in f64."""

    def row(d: Decoder, op: Operation) -> Step:
        dtype = element_dtype(op.results[0].type)
        rounded = in_f64(function, dtype)
        if len(op.operands) == 2:
            return apply2(d, op, lambda a, b: settle(rounded(a, b), dtype))
        return unary(lambda x: settle(rounded(x), dtype))(d, op)

    return row


def _fma(d: Decoder, op: Operation) -> Step:
    a, b, c = d.slots(op.operands)
    r = d.slot(op.results[0])
    dtype = element_dtype(op.results[0].type)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        v[r] = settle(fma(v[a], v[b], v[c], dtype), dtype)

    return step


def _counted(function: Callable[[Any, int], Any]) -> Row:
    """A function of an integer's bits."""

    def row(d: Decoder, op: Operation) -> Step:
        dtype = element_dtype(op.results[0].type)
        bits = dtype.itemsize * 8

        def compute(value: Value) -> Value:
            result = function(np.asarray(unsigned(value, dtype), f"u{dtype.itemsize}"), bits)
            return settle(result.astype(dtype) if is_array(value) else result, dtype)

        return unary(compute)(d, op)

    return row


def _leading_zeros(value: Any, bits: int) -> Any:
    """Bits above the highest set one."""
    width = np.zeros(value.shape, np.int64)
    rest = value.copy()
    for _ in range(bits):
        width += rest != 0
        rest >>= 1
    return bits - width


def _trailing_zeros(value: Any, bits: int) -> Any:
    """Bits below the lowest set one."""
    return np.where(value == 0, bits, np.bitwise_count((value & (~value + 1)) - 1))


def _absolute(d: Decoder, op: Operation) -> Step:
    return unary(np.abs)(d, op) if not op.name.endswith("absi") else unary(abs)(d, op)


def _reciprocal_root(x: Any) -> Any:
    return 1.0 / np.sqrt(x)


def _round_away(x: Any) -> Any:
    """To the nearest integer, ties away from zero."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


ROWS: dict[str, Row] = {
    "math.absf": _absolute,
    "math.absi": _absolute,
    "math.floor": _exact(np.floor),
    "math.ceil": _exact(np.ceil),
    "math.trunc": _exact(np.trunc),
    "math.roundeven": _exact(np.rint),
    "math.round": _rounded(_round_away),
    "math.sqrt": _exact(np.sqrt),
    "math.copysign": _rounded(np.copysign),
    "math.rsqrt": _rounded(_reciprocal_root),
    "math.exp": _rounded(np.exp),
    "math.exp2": _rounded(np.exp2),
    "math.expm1": _rounded(np.expm1),
    "math.log": _rounded(np.log),
    "math.log2": _rounded(np.log2),
    "math.log10": _rounded(np.log10),
    "math.log1p": _rounded(np.log1p),
    "math.powf": _rounded(np.power),
    "math.sin": _rounded(np.sin),
    "math.cos": _rounded(np.cos),
    "math.tan": _rounded(np.tan),
    "math.asin": _rounded(np.arcsin),
    "math.acos": _rounded(np.arccos),
    "math.atan": _rounded(np.arctan),
    "math.atan2": _rounded(np.arctan2),
    "math.sinh": _rounded(np.sinh),
    "math.cosh": _rounded(np.cosh),
    "math.tanh": _rounded(np.tanh),
    "math.asinh": _rounded(np.arcsinh),
    "math.acosh": _rounded(np.arccosh),
    "math.atanh": _rounded(np.arctanh),
    "math.cbrt": _rounded(np.cbrt),
    "math.erf": _rounded(erf),
    "math.fma": _fma,
    "math.ctpop": _counted(lambda x, bits: np.bitwise_count(x)),
    "math.ctlz": _counted(_leading_zeros),
    "math.cttz": _counted(_trailing_zeros),
}
