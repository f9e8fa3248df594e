"""Rows of the dialect `vector`: construction, slices, products and reductions of register tiles.

A vector of any rank is one flat array in row-major order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as cartesian
from math import prod
from typing import cast

from xdsl.dialects.vector import CombiningKindAttr
from xdsl.ir import Operation, SSAValue

from phobos_nb.cuda.emit import memory
from phobos_nb.cuda.emit.arithmetic import combine, fused
from phobos_nb.cuda.emit.emitter import UNROLLED_IN_LINE, Emitter, Spelled, count
from phobos_nb.cuda.emit.table import row
from phobos_nb.cuda.reading import either, integers, is_vector, shape, text

DYNAMIC = -(1 << 63)
"""How MLIR marks a position that an operand gives."""


def steps(extents: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides of a shape."""
    return tuple(prod(extents[axis + 1 :]) for axis in range(len(extents)))


def picks(e: Emitter, result: SSAValue, source: SSAValue, order: Sequence[int]) -> None:
    """Define a vector whose element k is element `order[k]` of the source."""
    if len(order) <= UNROLLED_IN_LINE:
        _known_or_defined(e, result, [e.element(source, k) for k in order])
        return
    base = e.named(source)
    name = e.declare(result)
    first = order[0]
    if list(order) == list(range(first, first + len(order))):
        e.line("#pragma unroll")
        e.line(f"for (int _i = 0; _i < {len(order)}; ++_i) {name}.e[_i] = {base}.e[{first} + _i];")
        return
    moves = [f"{name}.e[{to}] = {base}.e[{of}];" for to, of in enumerate(order)]
    for start in range(0, len(moves), UNROLLED_IN_LINE):
        e.line(" ".join(moves[start : start + UNROLLED_IN_LINE]))


def _known_or_defined(e: Emitter, result: SSAValue, elements: list[str]) -> None:
    """A vector of one element that has a name already needs none of its own."""
    if len(elements) == 1 and _is_name(elements[0]):
        e.bind_elements(result, (elements[0],))
    else:
        e.define_elements(result, elements)


def _is_name(text: str) -> bool:
    return text.isidentifier() and text not in ("true", "false")


@row("vector.broadcast")
def _broadcast(e: Emitter, op: Operation) -> None:
    source, result = op.operands[0], op.results[0]
    if not is_vector(source):
        ctype = e.ctype(result)
        value = e.text(source, e.scalar_type(result))
        splat = e.call("splat", value, template=f"<{ctype}>")
        e.bind(result, Spelled(splat, ctype, elements=(value,)))
        return
    inner, outer = shape(source.type), shape(result.type)
    stretched = [0 if extent == 1 else step for extent, step in zip(inner, steps(inner), strict=True)]
    padded = [*[0] * (len(outer) - len(inner)), *stretched]
    order = [sum(i * s for i, s in zip(at, padded, strict=True)) for at in _positions(outer)]
    picks(e, result, source, order)


def _positions(extents: Sequence[int]) -> list[tuple[int, ...]]:
    return list(cartesian(*(range(n) for n in extents)))


@row("vector.shape_cast")
def _shape_cast(e: Emitter, op: Operation) -> None:
    e.alias(op.results[0], op.operands[0])


def _place(e: Emitter, op: Operation, whole: SSAValue, dynamic: Sequence[SSAValue]) -> memory.Term:
    """The flat index of a position: static entries with the operands where they are marked."""
    waiting = iter(dynamic)
    static = integers(op.properties["static_position"])
    position = [memory.term(e, next(waiting)) if x == DYNAMIC else x for x in static]
    return memory.total(
        memory.product(at, step) for at, step in zip(position, steps(shape(whole.type)), strict=False)
    )


def _scalar(e: Emitter, result: SSAValue, text: str) -> None:
    """An element as a scalar; one that is a scalar already keeps its name."""
    if _is_name(text):
        e.bind(result, Spelled(text, e.ctype(result)))
    else:
        e.define(result, text)


@row("vector.extract")
def _extract(e: Emitter, op: Operation) -> None:
    source, result = op.operands[0], op.results[0]
    place = _place(e, op, source, op.operands[1:])
    own = e.scalar_type(result)
    if not is_vector(result):
        _scalar(e, result, e.element(source, place, own))
    elif isinstance(place, int):
        picks(e, result, source, range(place, place + count(result)))
    else:
        base, name = e.named(source), e.declare(result)
        e.line("#pragma unroll")
        e.line(f"for (int _i = 0; _i < {count(result)}; ++_i) {name}.e[_i] = {base}.e[{place} + _i];")


@row("vector.insert")
def _insert(e: Emitter, op: Operation) -> None:
    value, target, result = op.operands[0], op.operands[1], op.results[0]
    place = _place(e, op, target, op.operands[2:])
    own = e.scalar_type(result)
    name = _taken(e, result, target)
    if not is_vector(value):
        e.line(f"{name}.e[{place}] = {e.text(value, own)};")
        return
    for k in range(count(value)):
        e.line(f"{name}.e[{memory.plus(place, k)}] = {e.element(value, k, own)};")


def _taken(e: Emitter, result: SSAValue, target: SSAValue) -> str:
    """`Emitter.take` unless index elements change their width on the way."""
    if e.ctype(result) == e.ctype(target):
        return e.take(result, target)
    own, name = e.scalar_type(result), e.declare(result)
    for k in range(count(result)):
        e.line(f"{name}.e[{k}] = {e.element(target, k, own)};")
    return name


def _window(op: Operation, whole: Sequence[int], part: Sequence[int]) -> list[int]:
    """The flat indices in the whole of the elements of a slice."""
    offsets = integers(op.properties["offsets"])
    padded = [*[1] * (len(whole) - len(part)), *part]
    starts = [*offsets, *[0] * (len(whole) - len(offsets))]
    flat = steps(whole)
    return [
        sum((o + i) * s for o, i, s in zip(starts, at, flat, strict=True)) for at in _positions(padded)
    ]


@row("vector.extract_strided_slice")
def _extract_slice(e: Emitter, op: Operation) -> None:
    source, result = op.operands[0], op.results[0]
    picks(e, result, source, _window(op, shape(source.type), shape(result.type)))


@row("vector.insert_strided_slice")
def _insert_slice(e: Emitter, op: Operation) -> None:
    part, target = op.operands
    own = e.scalar_type(op.results[0])
    name = _taken(e, op.results[0], target)
    order = _window(op, shape(target.type), shape(part.type))
    moves = [f"{name}.e[{to}] = {e.element(part, k, own)};" for k, to in enumerate(order)]
    for start in range(0, len(moves), UNROLLED_IN_LINE):
        e.line(" ".join(moves[start : start + UNROLLED_IN_LINE]))


@row("vector.transpose")
def _transpose(e: Emitter, op: Operation) -> None:
    source, result = op.operands[0], op.results[0]
    permutation = integers(op.properties["permutation"])
    flat = steps(shape(source.type))
    order = [
        sum(i * flat[axis] for i, axis in zip(at, permutation, strict=True))
        for at in _positions(shape(result.type))
    ]
    picks(e, result, source, order)


@row("vector.shuffle")
def _shuffle(e: Emitter, op: Operation) -> None:
    """Rows of the first operand and then of the second, by number."""
    first, second = op.operands
    rows = shape(first.type)[0]
    width = count(first) // rows
    own = e.scalar_type(op.results[0])
    elements: list[str] = []
    for at in integers(op.properties["mask"]):
        source, place = (first, at) if at < rows else (second, at - rows)
        elements += [e.element(source, place * width + k, own) for k in range(width)]
    e.define_elements(op.results[0], elements)


@row("vector.from_elements")
def _from_elements(e: Emitter, op: Operation) -> None:
    own = e.scalar_type(op.results[0])
    _known_or_defined(e, op.results[0], [e.text(x, own) for x in op.operands])


@row("vector.to_elements")
def _to_elements(e: Emitter, op: Operation) -> None:
    for k, result in enumerate(op.results):
        _scalar(e, result, e.element(op.operands[0], k, e.scalar_type(result)))


@row("vector.bitcast")
def _bitcast(e: Emitter, op: Operation) -> None:
    """The same bits in registers, whatever the element sizes."""
    ctype = e.ctype(op.results[0])
    e.define(op.results[0], f"__builtin_bit_cast({ctype}, {e.named(op.operands[0])})")


@row("vector.fma")
def _fma(e: Emitter, op: Operation) -> None:
    e.elementwise(op.results[0], op.operands, fused(e, e.scalar_type(op.results[0])))


def _kind(op: Operation) -> str:
    return str(cast(CombiningKindAttr, op.properties["kind"]).data)


@row("vector.outerproduct")
def _outerproduct(e: Emitter, op: Operation) -> None:
    """One fma for each element of the accumulator, the right vector on the inside.

    With `phobos.order` "snake" the inner direction alternates, so that neighbouring operations share
    a register operand: 10 % of an f32 GEMM. "columns" does so with the left vector on the inside.
    """
    lhs, rhs, *rest = op.operands
    result = op.results[0]
    ctype = e.scalar_type(result)
    rows, columns = count(lhs), count(rhs) if is_vector(rhs) else 1
    at = f"_i * {columns} + _q" if columns > 1 else "_i"
    a, b = e.element(lhs, "_i"), e.element(rhs, "_q" if columns > 1 else 0)
    if rest:
        name = e.take(result, rest[0])
        update = _accumulate(e, op, f"{name}.e[{at}]", a, b)
    else:
        name = e.declare(result)
        update = combine(e, "mul", ctype)(a, b)
    order = text(either(op, "phobos.order"))
    e.line("#pragma unroll")
    if columns == 1:
        e.line(f"for (int _i = 0; _i < {rows}; ++_i) {name}.e[_i] = {update};")
        return
    inner = "const int _q = _j;"
    if order == "snake":
        inner = f"const int _q = (_i & 1) ? {columns - 1} - _j : _j;"
    if order == "columns":
        rows, columns = columns, rows
        inner = f"const int _q = _o; const int _i = (_o & 1) ? {columns - 1} - _j : _j;"
    outer = "_o" if order == "columns" else "_i"
    e.line(f"for (int {outer} = 0; {outer} < {rows}; ++{outer})")
    e.line("  #pragma unroll")
    e.line(f"  for (int _j = 0; _j < {columns}; ++_j) {{ {inner} {name}.e[{at}] = {update}; }}")


def _accumulate(e: Emitter, op: Operation, into: str, a: str, b: str) -> str:
    ctype, kind = e.scalar_type(op.results[0]), _kind(op)
    if kind == "add":
        return fused(e, ctype)(a, b, into)
    return combine(e, kind, ctype)(into, combine(e, "mul", ctype)(a, b))


@row("vector.reduction")
def _reduction(e: Emitter, op: Operation) -> None:
    """From the accumulator, or without one from element 0, through the elements in order."""
    source, *start = op.operands
    result = op.results[0]
    first = e.text(start[0]) if start else e.element(source, 0)
    name = e.declare(result, first)
    step = combine(e, _kind(op), e.scalar_type(result))(name, e.element(source, "_i"))
    e.line("#pragma unroll")
    e.line(f"for (int _i = {0 if start else 1}; _i < {count(source)}; ++_i) {name} = {step};")


@row("vector.multi_reduction")
def _multi_reduction(e: Emitter, op: Operation) -> None:
    """From the accumulator through the reduced elements in row-major order."""
    source, start = op.operands
    result = op.results[0]
    axes, extents = integers(op.properties["reduction_dims"]), shape(source.type)
    kept = [axis for axis in range(len(extents)) if axis not in axes]
    if is_vector(result):
        name = e.take(result, start)
        target = f"{name}.e[{_flat(kept, steps([extents[k] for k in kept]))}]"
    else:
        target = e.declare(result, e.text(start))
    element = e.element(source, _flat(range(len(extents)), steps(extents)))
    step = combine(e, _kind(op), e.scalar_type(result))(target, element)
    for axis, extent in enumerate(extents):
        indent = "  " * axis
        e.line(f"{indent}#pragma unroll")
        tail = f" {target} = {step};" if axis == len(extents) - 1 else ""
        e.line(f"{indent}for (int _{axis} = 0; _{axis} < {extent}; ++_{axis}){tail}")


def _flat(axes: Sequence[int], strides: Sequence[int]) -> str:
    return str(memory.total(memory.product(f"_{a}", s) for a, s in zip(axes, strides, strict=True)))
