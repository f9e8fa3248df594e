"""Rows of the dialect `memref`: references, and scalar accesses through them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerAttr
from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.dialects.memref import ARRAY_OFFSET
from phobos_nb.simulate.access import load, store
from phobos_nb.simulate.findings import report_lanes
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.memory import PrivateMemory
from phobos_nb.simulate.ops.atomics import atomic_row, swap_row
from phobos_nb.simulate.ops.common import alias, lanes_of, static_shape
from phobos_nb.simulate.ops.extents import indices_of, reach
from phobos_nb.simulate.program import Decoder, Row, Step, UnknownOperation, element_dtype
from phobos_nb.simulate.shared_arrays import SharedArray
from phobos_nb.simulate.site import Site
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Ref, Value, is_array


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides in elements of a static shape."""
    strides = [1]
    for n in reversed(shape[1:]):
        strides.append(strides[-1] * n)
    return tuple(reversed(strides[: len(shape)]))


def shared_bytes(d: Decoder, op: Operation) -> Step:
    """The row of whatever yields the CTA's shared memory as bytes."""
    r = d.slot(op.results[0])
    dtype = np.dtype(np.int8)

    def step(m: Machine, s: Strand) -> None:
        s.values[r] = Ref(m.shared, 0, (1,), dtype)

    return step


def _alloca(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, memref.AllocaOp)
    shape, r = static_shape(op.memref.type), d.slot(op.memref)
    if DYNAMIC_INDEX in shape:
        raise UnknownOperation("memref.alloca of a shape that is not static")
    dtype, strides, count = element_dtype(op.memref.type), row_major(shape), math.prod(shape)
    name = op.memref.name_hint or ""

    def step(m: Machine, s: Strand) -> None:
        memory = PrivateMemory(name, s.count * count, dtype.itemsize, m.shared.poison)
        s.values[r] = Ref(memory, np.arange(s.count) * count, strides, dtype)

    return step


def _view(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, memref.ViewOp)
    source, shift, r = d.slot(op.source), d.slot(op.byte_shift), d.slot(op.result)
    dtype, index = element_dtype(op.result.type), d.op
    shape = static_shape(op.result.type)
    if DYNAMIC_INDEX in shape:
        raise UnknownOperation("memref.view of a shape that is not static")
    strides = row_major(shape)
    array_at = _arrays(op, shape, dtype.itemsize)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        offset = v[source].offset + v[shift]
        wrong = offset % dtype.itemsize != 0
        if np.any(wrong):
            bad = lanes_of(wrong, s)
            if bad.any():
                text = f"a view of {dtype} begins at a byte that is no multiple of {dtype.itemsize}"
                report_lanes(m, s, "misaligned", index, text, bad, int(bad.argmax()), "shared")
        v[r] = Ref(v[source].memory, offset // dtype.itemsize, strides, dtype, array_at(m, offset))

    return step


def _arrays(
    op: memref.ViewOp, shape: tuple[int, ...], itemsize: int
) -> Callable[[Machine, Value], SharedArray | None]:
    """From a view's byte offset to the array that it shows, see Note [Views at a thread's place]."""
    known, name = op.attributes.get(ARRAY_OFFSET), op.result.name_hint or ""

    def array_at(m: Machine, offset: Value) -> SharedArray | None:
        start = known.value.data if isinstance(known, IntegerAttr) else offset
        return None if is_array(start) else SharedArray(start, shape, itemsize, m.shared.bytes, name)

    return array_at


def _mixed(
    d: Decoder, static: DenseArrayBase[Any], dynamic: Sequence[SSAValue]
) -> list[tuple[bool, int]]:
    """Static numbers and slots, in order: (is a slot, number or slot)."""
    rest = iter(dynamic)
    numbers = static.get_values()
    return [(True, d.slot(next(rest))) if n == DYNAMIC_INDEX else (False, n) for n in numbers]


def _read(mixed: tuple[bool, int], values: Sequence[Value]) -> Value:
    is_slot, number = mixed
    return values[number] if is_slot else number


def _subview(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, memref.SubviewOp)
    source, r = d.slot(op.source), d.slot(op.result)
    offsets = _mixed(d, op.static_offsets, op.offsets)
    steps = _mixed(d, op.static_strides, op.strides)
    sizes = op.static_sizes.get_values()
    rank = len(static_shape(op.result.type))
    kept = list(range(len(sizes)))
    if rank < len(sizes):
        kept = [i for i, n in enumerate(sizes) if n != 1][:rank]

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        ref: Ref = v[source]
        shift: Value = 0
        for o, stride in zip(offsets, ref.strides, strict=True):
            shift = shift + _read(o, v) * stride
        strides = tuple(ref.strides[i] * _read(steps[i], v) for i in kept)
        v[r] = ref.moved(shift, strides)

    return step


def _reinterpret_cast(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, memref.ReinterpretCastOp)
    source, r = d.slot(op.source), d.slot(op.result)
    (offset,) = _mixed(d, op.static_offsets, op.offsets)
    strides = _mixed(d, op.static_strides, op.strides)
    dtype = element_dtype(op.result.type)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        ref: Ref = v[source]
        v[r] = Ref(ref.memory, _base(ref) + _read(offset, v), tuple(_read(x, v) for x in strides), dtype)

    return step


def _base(ref: Ref) -> Value:
    """`reinterpret_cast` counts from the buffer's base, which for entry arguments is index 0."""
    return 0 if ref.memory.space == "global" else ref.offset


def _dim(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, memref.DimOp)
    shape, r, axis = static_shape(op.source.type), d.slot(op.result), d.slot(op.index)
    if DYNAMIC_INDEX in shape:
        raise UnknownOperation("memref.dim of an extent that the memref does not carry")

    def step(m: Machine, s: Strand) -> None:
        s.values[r] = shape[s.values[axis]]

    return step


def _load(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, memref.LoadOp)
    site, indices = Site(d.op, "load", ()), indices_of(d, op.memref, op.indices)
    d.touch(op.memref.type)
    base, r = d.slot(op.memref), d.slot(op.res)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        ref: Ref = v[base]
        where = reach(m, s, site, ref, indices, None, s.mask)
        v[r] = load(m, s, site, ref, where)

    return step


def _store(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, memref.StoreOp)
    site, indices = Site(d.op, "store", ()), indices_of(d, op.memref, op.indices)
    d.touch(op.memref.type)
    value, base = d.slot(op.value), d.slot(op.memref)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        ref: Ref = v[base]
        where = reach(m, s, site, ref, indices, None, s.mask)
        store(m, s, site, ref, where, v[value])

    return step


ROWS: dict[str, Row] = {
    "memref.get_global": shared_bytes,
    "memref.view": _view,
    "memref.subview": _subview,
    "memref.reinterpret_cast": _reinterpret_cast,
    "memref.cast": alias,
    "memref.assume_alignment": alias,
    "memref.alloca": _alloca,
    "memref.memory_space_cast": alias,
    "memref.load": _load,
    "memref.store": _store,
    "memref.atomic_rmw": atomic_row,
    "memref.generic_atomic_rmw": swap_row,
    "memref.dim": _dim,
}
