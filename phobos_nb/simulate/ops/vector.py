"""Rows of the dialect `vector`, memory apart: per-thread vectors with lanes on the last axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Operation

from phobos_nb.ir.dialects.vector import (
    ExtractStridedSliceOp,
    InsertStridedSliceOp,
    MultiReductionOp,
    TransposeOp,
)
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.numerics import fma, in_f32, maximum, minimum
from phobos_nb.simulate.ops.common import apply2, reusable, settle, static_shape, unary
from phobos_nb.simulate.ops.integers import unsigned
from phobos_nb.simulate.ops.outerproduct import outerproduct
from phobos_nb.simulate.ops.vector_memory import MEMORY_ROWS
from phobos_nb.simulate.program import Decoder, Row, Step, element_dtype
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Array, DTypeLike, Value, choose, is_array


def _broadcast(d: Decoder, op: Operation) -> Step:
    shape = static_shape(op.results[0].type)
    inner = static_shape(op.operands[0].type)
    dtype = element_dtype(op.results[0].type)

    def widen(value: Value) -> Value:
        array = np.asarray(value, dtype)
        if not inner:
            array = array.reshape(-1)
        lanes = array.shape[-1]
        return np.broadcast_to(array.reshape(*inner, lanes), (*shape, lanes))

    return unary(widen)(d, op)


def _fma(d: Decoder, op: Operation) -> Step:
    a, b, c = d.slots(op.operands)
    r = d.slot(op.results[0])
    dtype = element_dtype(op.results[0].type)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        v[r] = fma(v[a], v[b], v[c], dtype)

    return step


def _extract(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, xdsl_vector.ExtractOp)
    static = op.static_position.get_values()
    a, r = d.slot(op.vector), d.slot(op.result)
    dynamic = d.slots(op.dynamic_position)
    dtype = element_dtype(op.result.type)
    scalar = not static_shape(op.result.type)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        part = v[a][_position(static, [v[i] for i in dynamic], s.count)]
        v[r] = settle(part[0], dtype) if scalar and len(part) == 1 else part

    return step


def _position(static: Sequence[int], dynamic: Sequence[Value], count: int) -> tuple[Any, ...]:
    """The NumPy index of a position; entries below 0 of `static` take the dynamic ones in turn."""
    rest = iter(dynamic)
    index = tuple(next(rest) if p < 0 else p for p in static)
    return (*index, np.arange(count)) if any(is_array(i) for i in index) else index


def _insert(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, xdsl_vector.InsertOp)
    static = op.static_position.get_values()
    a, b, r = d.slot(op.source), d.slot(op.dest), d.slot(op.result)
    dynamic = d.slots(op.dynamic_position)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        out = full_width(v[b], s.count)
        out[_position(static, [v[i] for i in dynamic], s.count)] = v[a]
        v[r] = out

    return step


def full_width(value: Array, count: int) -> Array:
    """A copy of a vector with an entry of its own for every lane."""
    return np.array(np.broadcast_to(value, (*value.shape[:-1], count)))


def _extract_slice(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, ExtractStridedSliceOp)
    shape = static_shape(op.result.type)
    starts = (*op.positions, *[0] * (len(shape) - len(op.positions)))
    index = tuple(slice(o, o + n) for o, n in zip(starts, shape, strict=True))
    return unary(lambda x: x[index])(d, op)


def _insert_slice(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, InsertStridedSliceOp)
    inner = static_shape(op.source.type)
    starts = op.positions
    lead = len(starts) - len(inner)
    sizes = (*[1] * lead, *inner)
    index = tuple(slice(o, o + n) for o, n in zip(starts, sizes, strict=True))
    a, b, r = d.slot(op.source), d.slot(op.dest), d.slot(op.result)
    in_place = reusable(op.dest)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        out = v[b]
        if not in_place or out.base is not None or out.shape[-1] != s.count:
            out = full_width(out, s.count)
        out[index] = v[a]
        v[r] = out

    return step


def _reshape(d: Decoder, op: Operation) -> Step:
    shape = static_shape(op.results[0].type)
    return unary(lambda x: x.reshape(*shape, x.shape[-1]))(d, op)


def _transpose(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, TransposeOp)
    order = op.permutation.get_values()
    return unary(lambda x: x.transpose(*order, len(order)))(d, op)


def _from_elements(d: Decoder, op: Operation) -> Step:
    shape = static_shape(op.results[0].type)
    dtype = element_dtype(op.results[0].type)
    parts, r = d.slots(op.operands), d.slot(op.results[0])

    def step(m: Machine, s: Strand) -> None:
        values = [np.asarray(s.values[p], dtype).reshape(-1) for p in parts]
        stacked = np.stack(np.broadcast_arrays(*values))
        s.values[r] = stacked.reshape(*shape, stacked.shape[-1])

    return step


def _to_elements(d: Decoder, op: Operation) -> Step:
    a, results = d.slot(op.operands[0]), d.slots(op.results)
    dtype = element_dtype(op.operands[0].type)

    def step(m: Machine, s: Strand) -> None:
        whole = s.values[a]
        rows = whole.reshape(-1, whole.shape[-1])
        for r, row in zip(results, rows, strict=True):
            s.values[r] = settle(row[0], dtype) if len(row) == 1 else row

    return step


def combining(kind: CombiningKindFlag, dtype: DTypeLike) -> Callable[[Value, Value], Any]:
    """The two-operand function of a combining kind."""
    functions: dict[str, Callable[[Any, Any], Any]] = {
        "add": np.add,
        "mul": np.multiply,
        "minui": lambda a, b: choose(unsigned(a, dtype) <= unsigned(b, dtype), a, b, dtype),
        "maxui": lambda a, b: choose(unsigned(a, dtype) >= unsigned(b, dtype), a, b, dtype),
        "minsi": np.minimum,
        "maxsi": np.maximum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
        "minnumf": np.fmin,
        "maxnumf": np.fmax,
        "minimumf": minimum,
        "maximumf": maximum,
    }
    function = functions[kind.value]
    return in_f32(function, dtype) if dtype.kind not in "iub" else function


def _multi_reduction(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, MultiReductionOp)
    dtype = element_dtype(op.result.type)
    axes = op.axes.get_values()
    combine = combining(op.kind.data, dtype)
    scalar = not static_shape(op.result.type)

    def reduce(source: Value, acc: Value) -> Value:
        return _fold(source, acc, axes, combine, dtype, scalar=scalar)

    return apply2(d, op, reduce)


def _reduction(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, xdsl_vector.ReductionOp)
    dtype = element_dtype(op.dest.type)
    kind = op.kind.data
    combine = combining(kind, dtype)
    a, r = d.slot(op.vector), d.slot(op.dest)
    acc = None if op.acc is None else d.slot(op.acc)

    def step(m: Machine, s: Strand) -> None:
        source = s.values[a]
        start, rest = (source[0], source[1:]) if acc is None else (s.values[acc], source)
        s.values[r] = _fold(rest, start, (0,), combine, dtype, scalar=True)

    return step


def _fold(
    source: Array,
    acc: Value,
    axes: Sequence[int],
    combine: Callable[[Value, Value], Any],
    dtype: DTypeLike,
    *,
    scalar: bool,
) -> Value:
    """Combine along axes into `acc`, one element after the other in row-major order."""
    moved = np.moveaxis(source, axes, range(len(axes)))
    rows = moved.reshape(-1, *moved.shape[len(axes) :])
    for row in rows:
        acc = combine(acc, row)
    result = np.asarray(acc, dtype)
    return settle(result.reshape(-1)[0], dtype) if scalar and result.size == 1 else result


def _create_mask(d: Decoder, op: Operation) -> Step:
    shape = static_shape(op.results[0].type)
    counts, r = d.slots(op.operands), d.slot(op.results[0])

    def step(m: Machine, s: Strand) -> None:
        mask: Any = np.ones((*[1] * len(shape), 1), np.bool_)
        for axis, (n, slot) in enumerate(zip(shape, counts, strict=True)):
            ramp = np.arange(n).reshape(-1, *[1] * (len(shape) - axis))
            mask = mask & (ramp < s.values[slot])
        s.values[r] = mask

    return step


def _shuffle(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, xdsl_vector.ShuffleOp)
    order = list(op.mask.get_values())
    a, b, r = d.slot(op.v1), d.slot(op.v2), d.slot(op.result)

    def step(m: Machine, s: Strand) -> None:
        both = [np.broadcast_to(s.values[x], (*s.values[x].shape[:-1], s.count)) for x in (a, b)]
        s.values[r] = np.concatenate(both)[order]

    return step


def _bitcast(d: Decoder, op: Operation) -> Step:
    target = element_dtype(op.results[0].type)

    def cast_bits(value: Array) -> Array:
        turned = np.ascontiguousarray(np.moveaxis(value, -1, 0)).view(target)
        return np.moveaxis(turned, 0, -1)

    return unary(cast_bits)(d, op)


ROWS: dict[str, Row] = {
    "vector.broadcast": _broadcast,
    "vector.fma": _fma,
    "vector.outerproduct": outerproduct,
    "vector.extract": _extract,
    "vector.insert": _insert,
    "vector.extract_strided_slice": _extract_slice,
    "vector.insert_strided_slice": _insert_slice,
    "vector.shape_cast": _reshape,
    "vector.transpose": _transpose,
    "vector.from_elements": _from_elements,
    "vector.to_elements": _to_elements,
    "vector.multi_reduction": _multi_reduction,
    "vector.reduction": _reduction,
    "vector.create_mask": _create_mask,
    "vector.shuffle": _shuffle,
    "vector.bitcast": _bitcast,
    **MEMORY_ROWS,
}
