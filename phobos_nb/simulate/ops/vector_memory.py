"""Rows of the vector operations that touch memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.dialects.vector_memory import LoadOp, MaskedLoadOp, MaskedStoreOp, StoreOp
from phobos_nb.simulate.access import load, store
from phobos_nb.simulate.banks import AccessKind
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.ops.common import static_shape
from phobos_nb.simulate.ops.extents import indices_of, reach
from phobos_nb.simulate.ops.named import masked_elements
from phobos_nb.simulate.program import Decoder, Row, Step, element_dtype
from phobos_nb.simulate.site import Site
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools, Ints, Ref


def _site(
    d: Decoder, kind: AccessKind, base: SSAValue, vector: SSAValue, alignment: IntegerAttr | None
) -> Site:
    size = element_dtype(base.type).itemsize
    aligned = 1 if alignment is None else max(1, alignment.value.data // size)
    d.touch(base.type)
    return Site(d.op, kind, static_shape(vector.type), aligned)


def _masked_site(d: Decoder, site: Site, mask: SSAValue) -> Site:
    return replace(site, named=masked_elements(d, mask, site.elements))


def element_grid(ref: Ref, shape: tuple[int, ...]) -> Ints:
    """Offsets of a vector's elements from its first one, [..., 1]: the memref's last axes."""
    strides = ref.strides[len(ref.strides) - len(shape) :]
    grid = np.zeros((*shape, 1), np.int64)
    for axis, (n, stride) in enumerate(zip(shape, strides, strict=True)):
        grid += (np.arange(n) * stride).reshape(-1, *[1] * (len(shape) - axis))
    return grid


def _grids(rank: int, shape: tuple[int, ...]) -> tuple[Ints, bool]:
    """The grid of a row of contiguous elements, and whether a vector of this shape is one."""
    ramp = np.arange(shape[-1], dtype=np.int64).reshape(*[1] * (len(shape) - 1), -1, 1)
    return ramp, all(n == 1 for n in shape[:-1]) and rank >= 1


def _load(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, LoadOp)
    site = _site(d, "load", op.base, op.result, op.alignment)
    base, r = d.slot(op.base), d.slot(op.result)
    indices = indices_of(d, op.base, op.indices, site.shape)
    ramp, simple = _grids(len(indices.slots), site.shape)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        ref: Ref = v[base]
        grid = ramp if simple else element_grid(ref, site.shape)
        where = reach(m, s, site, ref, indices, grid, s.mask)
        v[r] = load(m, s, site, ref, where)

    return step


def _store(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, StoreOp)
    site = _site(d, "store", op.base, op.vector, op.alignment)
    value, base = d.slot(op.vector), d.slot(op.base)
    indices = indices_of(d, op.base, op.indices, site.shape)
    ramp, simple = _grids(len(indices.slots), site.shape)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        ref: Ref = v[base]
        grid = ramp if simple else element_grid(ref, site.shape)
        where = reach(m, s, site, ref, indices, grid, s.mask)
        store(m, s, site, ref, where, v[value])

    return step


def _live(mask: Bools, s: Strand) -> Bools | None:
    """The live elements of a masked access, `None` when all are."""
    if s.mask is not None:
        return mask & s.mask
    return None if mask.all() else mask


def _masked_load(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, MaskedLoadOp)
    site = _masked_site(d, _site(d, "load", op.base, op.result, op.alignment), op.mask)
    base, r = d.slot(op.base), d.slot(op.result)
    mask, other = d.slot(op.mask), d.slot(op.pass_thru)
    indices = indices_of(d, op.base, op.indices, site.shape)
    ramp, _ = _grids(len(indices.slots), site.shape)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        ref: Ref = v[base]
        live = _live(v[mask], s)
        where = reach(m, s, site, ref, indices, ramp, live)
        v[r] = load(m, s, site, ref, where, fill=v[other])

    return step


def _masked_store(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, MaskedStoreOp)
    site = _masked_site(d, _site(d, "store", op.base, op.value, op.alignment), op.mask)
    value, base = d.slot(op.value), d.slot(op.base)
    mask = d.slot(op.mask)
    indices = indices_of(d, op.base, op.indices, site.shape)
    ramp, _ = _grids(len(indices.slots), site.shape)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        ref: Ref = v[base]
        live = _live(v[mask], s)
        where = reach(m, s, site, ref, indices, ramp, live)
        store(m, s, site, ref, where, v[value])

    return step


MEMORY_ROWS: dict[str, Row] = {
    "vector.load": _load,
    "vector.store": _store,
    "vector.maskedload": _masked_load,
    "vector.maskedstore": _masked_store,
}
