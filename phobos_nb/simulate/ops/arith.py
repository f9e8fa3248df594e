"""Rows of the dialect `arith`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from phobos_nb.ir.dialects.arith import CmpfOp, CmpiOp
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.numerics import F32, F64, as_type, in_f32, maximum, minimum
from phobos_nb.simulate.ops.common import apply2, settle, static_shape, unary
from phobos_nb.simulate.ops.division import division_row, shift_row
from phobos_nb.simulate.ops.integers import unsigned, wrap
from phobos_nb.simulate.ops.to_integer import to_integer_row
from phobos_nb.simulate.program import Decoder, Row, Step, element_dtype
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import DTypeLike, Value, choose, is_array


def _constant(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, ConstantOp)
    r = d.slot(op.result)
    value = constant_value(op.value, op.result.type)

    def step(m: Machine, s: Strand) -> None:
        s.values[r] = value

    return step


def constant_value(attribute: Attribute, type_: Attribute) -> Value:
    """The value of an attribute: a uniform scalar, or a vector with one entry on its lane axis."""
    dtype = element_dtype(type_)
    if isinstance(attribute, IntegerAttr):
        number = cast("IntegerAttr[Any]", attribute).value.data
        return bool(number) if dtype.kind == "b" else wrap(number, dtype)
    if isinstance(attribute, FloatAttr):
        return dtype.type(cast("FloatAttr[Any]", attribute).value.data)
    assert isinstance(attribute, DenseIntOrFPElementsAttr)
    elements = cast("DenseIntOrFPElementsAttr[Any]", attribute)
    values = [wrap(v, dtype) if dtype.kind == "i" else v for v in elements.get_values()]
    shape = (*static_shape(type_), 1)
    array = np.array(values, dtype)
    return np.full(shape, array[0]) if elements.is_splat() else array.reshape(shape)


def _integer(function: Callable[[Any, Any], Any]) -> Row:
    """Wrapping integer arithmetic, the same for signed and unsigned."""

    def row(d: Decoder, op: Operation) -> Step:
        dtype = element_dtype(op.results[0].type)

        def compute(a: Value, b: Value) -> Value:
            result = function(a, b)
            return result if is_array(result) else wrap(result, dtype)

        return apply2(d, op, compute)

    return row


def _chosen(larger: bool, *, signed: bool) -> Row:
    """Integer maximum or minimum."""

    def row(d: Decoder, op: Operation) -> Step:
        dtype = element_dtype(op.results[0].type)

        def compute(a: Value, b: Value) -> Value:
            x, y = (a, b) if signed else (unsigned(a, dtype), unsigned(b, dtype))
            first = x >= y if larger else x <= y
            if not is_array(first):
                return a if first else b
            return choose(first, a, b, dtype)

        return apply2(d, op, compute)

    return row


def _float(function: Callable[[Any, Any], Any]) -> Row:
    """Float arithmetic in the type, f16 and bf16 through f32."""

    def row(d: Decoder, op: Operation) -> Step:
        dtype = element_dtype(op.results[0].type)
        rounded = in_f32(function, dtype)
        return apply2(d, op, lambda a, b: settle(rounded(a, b), dtype))

    return row


def _negate(d: Decoder, op: Operation) -> Step:
    return unary(operator.neg)(d, op)


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _cmpi(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, CmpiOp)
    name = op.predicate_name
    compare = _COMPARE[name[-2:]]
    if not name.startswith("u"):
        return apply2(d, op, compare)
    dtype = element_dtype(op.lhs.type)
    return apply2(d, op, lambda a, b: compare(unsigned(a, dtype), unsigned(b, dtype)))


def _cmpf(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, CmpfOp)
    compare = float_predicate(op.predicate_name)
    return apply2(d, op, lambda a, b: settle(compare(a, b), np.dtype(np.bool_)))


def float_predicate(name: str) -> Callable[[Value, Value], Any]:
    """A comparison of floats: `o..` is false and `u..` true when an operand is NaN."""

    def unordered(a: Value, b: Value) -> Any:
        return (a != a) | (b != b)

    if name in ("false", "true"):
        return lambda a, b: (a == a) & False if name == "false" else (a == a) | True
    if name == "uno":
        return unordered
    if name == "ord":
        return lambda a, b: (a == a) & (b == b)
    compare = _COMPARE[name[1:]]
    if name.startswith("o"):
        return lambda a, b: compare(a, b) & (a == a) & (b == b)
    return lambda a, b: compare(a, b) | unordered(a, b)


def _select(d: Decoder, op: Operation) -> Step:
    c, a, b = d.slots(op.operands)
    r = d.slot(op.results[0])
    dtype = None if not static_or_scalar(op) else element_dtype(op.results[0].type)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        condition = v[c]
        if is_array(condition):
            v[r] = choose(condition, v[a], v[b], dtype)
        else:
            v[r] = v[a] if condition else v[b]

    return step


def static_or_scalar(op: Operation) -> bool:
    """Whether an operation's result is a scalar or a vector, not a memref."""
    return not op.results[0].type.name.startswith("memref")


def _convert(function: Callable[[Value, DTypeLike, DTypeLike], Any]) -> Row:
    """A conversion, given the value and both element types."""

    def row(d: Decoder, op: Operation) -> Step:
        source = element_dtype(op.operands[0].type)
        target = element_dtype(op.results[0].type)
        return unary(lambda x: settle(function(x, source, target), target))(d, op)

    return row


def _resize(value: Value, source: DTypeLike, target: DTypeLike) -> Any:
    """Sign-extend or truncate an integer; i1 is 0 or -1."""
    if source.kind == "b":
        return -as_type(value, target) if is_array(value) else -int(value)
    if target.kind == "b":
        return (value & 1) != 0
    return value.astype(target) if is_array(value) else wrap(value, target)


def _zero_extend(value: Value, source: DTypeLike, target: DTypeLike) -> Any:
    bits = unsigned(value, source)
    if target.kind == "b":
        return (bits & 1) != 0
    return bits.astype(target) if is_array(bits) else wrap(int(bits), target)


def _to_float(value: Value, source: DTypeLike, target: DTypeLike) -> Any:
    """An integer to a float with one rounding, ties to even."""
    direct = target in (F32, F64)
    return as_type(value, target) if direct else as_type(as_type(value, F64), target)


def _bits(value: Value, source: DTypeLike, target: DTypeLike) -> Any:
    return np.asarray(value, source).view(target) if not is_array(value) else value.view(target)


def _signed_to_float(value: Value, source: DTypeLike, target: DTypeLike) -> Any:
    return _to_float(-as_type(value, F64) if source.kind == "b" else value, source, target)


ROWS: dict[str, Row] = {
    "arith.constant": _constant,
    "arith.addi": _integer(operator.add),
    "arith.subi": _integer(operator.sub),
    "arith.muli": _integer(operator.mul),
    "arith.andi": _integer(np.bitwise_and),
    "arith.ori": _integer(np.bitwise_or),
    "arith.xori": _integer(np.bitwise_xor),
    "arith.shli": shift_row("left"),
    "arith.shrsi": shift_row("right"),
    "arith.shrui": shift_row("right unsigned"),
    "arith.divsi": division_row("quotient", signed=True),
    "arith.divui": division_row("quotient", signed=False),
    "arith.floordivsi": division_row("floor", signed=True),
    "arith.ceildivsi": division_row("ceil", signed=True),
    "arith.ceildivui": division_row("ceil", signed=False),
    "arith.remsi": division_row("rest", signed=True),
    "arith.remui": division_row("rest", signed=False),
    "arith.maxsi": _chosen(larger=True, signed=True),
    "arith.maxui": _chosen(larger=True, signed=False),
    "arith.minsi": _chosen(larger=False, signed=True),
    "arith.minui": _chosen(larger=False, signed=False),
    "arith.addf": _float(np.add),
    "arith.subf": _float(np.subtract),
    "arith.mulf": _float(np.multiply),
    "arith.divf": _float(np.divide),
    "arith.remf": _float(np.fmod),
    "arith.maximumf": _float(maximum),
    "arith.minimumf": _float(minimum),
    "arith.maxnumf": _float(np.fmax),
    "arith.minnumf": _float(np.fmin),
    "arith.negf": _negate,
    "arith.cmpi": _cmpi,
    "arith.cmpf": _cmpf,
    "arith.select": _select,
    "arith.index_cast": _convert(_resize),
    "arith.index_castui": _convert(_zero_extend),
    "arith.extsi": _convert(_resize),
    "arith.extui": _convert(_zero_extend),
    "arith.trunci": _convert(_resize),
    "arith.sitofp": _convert(_signed_to_float),
    "arith.uitofp": _convert(lambda x, s, t: _to_float(unsigned(x, s), s, t)),
    "arith.fptosi": to_integer_row(signed=True),
    "arith.fptoui": to_integer_row(signed=False),
    "arith.extf": _convert(lambda x, s, t: as_type(x, t)),
    "arith.truncf": _convert(lambda x, s, t: as_type(x, t)),
    "arith.bitcast": _convert(_bits),
}
