"""Rows of the dialect `memref`: references, and scalar accesses through them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase
from xdsl.ir import Operation, SSAValue

from phobos_nb.simulate.access import load, locate, store
from phobos_nb.simulate.findings import report_lanes
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.memory import PrivateMemory
from phobos_nb.simulate.ops.addresses import flat_index
from phobos_nb.simulate.ops.atomics import atomic_row, swap_row
from phobos_nb.simulate.ops.common import alias, lanes_of, static_shape
from phobos_nb.simulate.program import Decoder, Row, Step, UnknownOperation, element_dtype
from phobos_nb.simulate.site import Located, Site
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Ref, Value, span


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

    def step(m: Machine, s: Strand) -> None:
        memory = PrivateMemory(s.count * count * dtype.itemsize)
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

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        offset = v[source].offset + v[shift]
        wrong = offset % dtype.itemsize != 0
        if np.any(wrong):
            bad = lanes_of(wrong, s)
            if bad.any():
                text = f"a view of {dtype} begins at a byte that is no multiple of {dtype.itemsize}"
                report_lanes(m, s, "misaligned", index, text, bad, int(bad.argmax()), "shared")
        v[r] = Ref(v[source].memory, offset // dtype.itemsize, strides, dtype)

    return step


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


def _within(
    m: Machine, s: Strand, site: Site, ref: Ref, where: Located, axes: Sequence[tuple[int, int]]
) -> Located:
    """The part of an access to shared memory that lies inside its array; the rest is reported.

    axes: slot of the index and extent of each. Behind its array a CTA may find another, or unused bytes.
    """
    values = s.values
    spans = [(*span(values[slot]), extent) for slot, extent in axes]
    if ref.memory is not m.shared or all(low >= 0 and high < n for low, high, n in spans):
        return where
    bad = np.ones(s.count, np.bool_) if where.live is None else where.live.copy()
    bad &= np.logical_or.reduce([lanes_of((values[i] < 0) | (values[i] >= n), s) for i, n in axes])
    if not bad.any():
        return where
    lane = int(bad.argmax())
    index = [int(np.broadcast_to(values[slot], s.count)[lane]) for slot, _ in axes]
    extents = " x ".join(str(extent) for _, extent in axes)
    verb = "reads" if site.kind == "load" else "writes"
    text = f"{verb} outside a shared array of {extents} elements at {index}"
    report_lanes(m, s, "out_of_bounds", site.op, text, bad, lane, "shared")
    return replace(where, live=~bad if where.live is None else where.live & ~bad)


def _axes(d: Decoder, indices: Sequence[SSAValue], memory: SSAValue) -> list[tuple[int, int]]:
    """Slot and extent of each index, for a shape that is static."""
    shape = static_shape(memory.type)
    return [] if DYNAMIC_INDEX in shape else list(zip(d.slots(indices), shape, strict=True))


def _load(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, memref.LoadOp)
    site, axes = Site(d.op, "load", ()), _axes(d, op.indices, op.memref)
    d.touch(op.memref.type)
    base, indices, r = d.slot(op.memref), d.slots(op.indices), d.slot(op.res)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        ref: Ref = v[base]
        where = locate(m, s, site, ref, flat_index(ref, v, indices), None, s.mask)
        where = _within(m, s, site, ref, where, axes)
        v[r] = load(m, s, site, ref, where)

    return step


def _store(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, memref.StoreOp)
    site, axes = Site(d.op, "store", ()), _axes(d, op.indices, op.memref)
    d.touch(op.memref.type)
    value, base, indices = d.slot(op.value), d.slot(op.memref), d.slots(op.indices)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        ref: Ref = v[base]
        where = locate(m, s, site, ref, flat_index(ref, v, indices), None, s.mask)
        where = _within(m, s, site, ref, where, axes)
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
