"""Rows of `gpu.subgroup_mma_*`: a warp's matrices.

A matrix is held as [elements per lane, lanes]: element e of lane l is number 32 * e + l in row-major
order. That is no layout of the hardware's, which the PTX ISA leaves open: nothing reads a lane's part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.dialects.subgroup_mma import (
    MatrixType,
    SubgroupMmaComputeOp,
    SubgroupMmaConstantOp,
    SubgroupMmaLoadOp,
    SubgroupMmaStoreOp,
    stored_element,
)
from phobos_nb.simulate.access import locate, race_read, race_write
from phobos_nb.simulate.banks import AccessKind
from phobos_nb.simulate.findings import report_lanes
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.ops.addresses import flat_index
from phobos_nb.simulate.ops.matrix import TF32_MASK
from phobos_nb.simulate.program import Decoder, Row, Step, element_dtype
from phobos_nb.simulate.site import Located, Site
from phobos_nb.simulate.strand import WARP, Strand
from phobos_nb.simulate.tensor_cores import multiply_accumulate, wmma_block
from phobos_nb.simulate.values import Array, DTypeLike, Ints, Ref, Value
from phobos_nb.simulate.whole_warps import check_whole_warps


def _type(value: SSAValue) -> MatrixType:
    return cast(MatrixType, value.type)


def _dtype(type_: MatrixType) -> DTypeLike:
    return element_dtype(stored_element(type_))


ALIGNMENT = 32
"""A matrix begins at a multiple of so many bytes (CUDA programming guide, "Warp Matrix Functions")."""


def _site(op: int, kind: AccessKind, count: int, dtype: DTypeLike) -> Site:
    return Site(op, kind, (count,), ALIGNMENT // dtype.itemsize)


def _places(type_: MatrixType, lead: int, *, transpose: bool) -> tuple[Ints, int]:
    """Offsets of each lane's elements in memory, [elements, 32], and how many elements a lane has."""
    rows, columns = type_.extents
    number = np.arange(rows * columns).reshape(-1, WARP)
    row, column = number // columns, number % columns
    return (column * lead + row if transpose else row * lead + column), len(number)


def _access(
    d: Decoder,
    op: SubgroupMmaLoadOp | SubgroupMmaStoreOp,
    memory: SSAValue,
    type_: MatrixType,
    kind: AccessKind,
) -> tuple[Site, Callable[[Machine, Strand], tuple[Ref, Located]]]:
    """A load or store of a matrix, and what finds its elements; a parted warp is a fault."""
    places, count = _places(type_, op.lead.value.data, transpose=op.transpose is not None)
    site = _site(d.op, kind, count, _dtype(type_))
    d.touch(memory.type)
    base, indices = d.slot(memory), d.slots(op.indices)
    check = _uniform(d.op)

    def find(m: Machine, s: Strand) -> tuple[Ref, Located]:
        ref: Ref = s.values[base]
        flat = flat_index(ref, s.values, indices)
        check(m, s, ref.offset + flat)
        return ref, locate(m, s, site, ref, flat, np.tile(places, s.count // WARP), s.mask)

    return site, find


def _load(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, SubgroupMmaLoadOp)
    type_ = _type(op.result)
    dtype, r = _dtype(type_), d.slot(op.result)
    site, find = _access(d, op, op.src, type_, "load")

    def step(m: Machine, s: Strand) -> None:
        ref, where = find(m, s)
        race_read(m, s, site, ref, where)
        positions = np.broadcast_to(where.positions(), (*site.shape, s.count))
        live = True if where.live is None else where.live
        typed = ref.memory.allocation.typed(dtype)
        s.values[r] = typed.take(np.where(live, positions, 0))

    return step


def _store(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, SubgroupMmaStoreOp)
    type_ = _type(op.src)
    dtype, source = _dtype(type_), d.slot(op.src)
    site, find = _access(d, op, op.dst, type_, "store")

    def step(m: Machine, s: Strand) -> None:
        ref, where = find(m, s)
        shape = (*site.shape, s.count)
        positions = np.broadcast_to(where.positions(), shape)
        held = np.broadcast_to(s.values[source], shape)
        live = np.broadcast_to(True if where.live is None else where.live, shape)
        if m.probe is not None:
            m.probe.stored(s, site, ref, where, None)
        ref.memory.allocation.typed(dtype)[positions[live]] = held[live]
        race_write(m, s, site, ref, where)

    return step


def _uniform(op: int) -> Any:
    """Looks for warps whose lanes give different addresses, or only some of which take part."""

    def check(m: Machine, s: Strand, offset: Value) -> None:
        check_whole_warps(m, s, op, "this move of a matrix")
        per_lane = np.broadcast_to(np.asarray(offset), (s.count,)).reshape(-1, WARP)
        apart = (per_lane != per_lane[:, :1]).reshape(-1)
        if apart.any():
            text = "the lanes of a warp give different addresses of one matrix"
            report_lanes(m, s, "fragment", op, text, apart, int(apart.argmax()))

    return check


def _constant(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, SubgroupMmaConstantOp)
    rows, columns = _type(op.result).extents
    value, r, dtype = d.slot(op.value), d.slot(op.result), _dtype(_type(op.result))

    def step(m: Machine, s: Strand) -> None:
        one = np.broadcast_to(np.asarray(s.values[value], dtype), (s.count,))
        s.values[r] = np.tile(one, (rows * columns // WARP, 1))

    return step


def matrices(values: Array, extents: tuple[int, int], count: int) -> Array:
    """What the lanes hold as matrices [warps, rows, columns]."""
    wide = np.broadcast_to(values, (values.shape[0], count))
    by_warp = wide.reshape(len(wide), -1, WARP).transpose(1, 0, 2)
    return by_warp.reshape(-1, *extents)


def lanes_of(values: Array) -> Array:
    """The inverse of `matrices`."""
    by_warp = values.reshape(len(values), -1, WARP).transpose(1, 0, 2)
    return by_warp.reshape(len(by_warp), -1)


def _compute(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, SubgroupMmaComputeOp)
    types = [_type(v) for v in (op.a, op.b, op.c)]
    operand, sums = _dtype(types[0]), _dtype(types[2])
    a, b, c, r = d.slot(op.a), d.slot(op.b), d.slot(op.c), d.slot(op.result)
    exact = np.dtype(np.int64 if operand.kind == "i" else np.float64)
    tf32, mixed = operand == np.dtype(np.float32), _mixed(op)
    index = d.op

    def wide(value: Array, type_: MatrixType, count: int) -> Array:
        if tf32:
            value = (np.ascontiguousarray(value).view(np.uint32) & TF32_MASK).view(np.float32)
        return matrices(value, type_.extents, count).astype(exact)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        check_whole_warps(m, s, index, "this product")
        if mixed:
            report_lanes(m, s, "fragment", index, mixed, np.ones(s.count, np.bool_), 0)
        left, right = wide(v[a], types[0], s.count), wide(v[b], types[1], s.count)
        start = matrices(v[c], types[2].extents, s.count)
        block = wmma_block(m.target, operand)
        total = multiply_accumulate(m.target, left, right, start, operand, sums, block)
        v[r] = lanes_of(total)

    return step


def _mixed(op: SubgroupMmaComputeOp) -> str:
    """What is wrong when an operand was loaded by rows and is used by columns, or the reverse."""
    sides = (("a", op.a, op.a_transpose), ("b", op.b, op.b_transpose))
    for name, value, transposed in sides:
        made = value.owner
        if isinstance(made, SubgroupMmaLoadOp) and (made.transpose is None) != (transposed is None):
            ways = ("columns", "rows") if transposed is None else ("rows", "columns")
            return (
                f"operand {name} was loaded by {ways[0]} and is used as one by {ways[1]}: "
                "where its elements lie in the lanes is not specified then"
            )
    return ""


WMMA_ROWS: dict[str, Row] = {
    "gpu.subgroup_mma_load_matrix": _load,
    "gpu.subgroup_mma_store_matrix": _store,
    "gpu.subgroup_mma_constant_matrix": _constant,
    "gpu.subgroup_mma_compute": _compute,
}
