"""Rows of `nvgpu.ldmatrix` and `nvgpu.mma.sync`: a warp's fragments and its product."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Operation

from phobos_nb.ir.dialects.nvgpu import LdMatrixOp, MmaSyncOp
from phobos_nb.simulate.access import watch_read
from phobos_nb.simulate.fragments import Fragment, accumulator, matrix_tile, operand_a, operand_b
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.ops.extents import indices_of, reach
from phobos_nb.simulate.program import Decoder, Row, Step, element_dtype
from phobos_nb.simulate.site import Located, Site
from phobos_nb.simulate.strand import WARP, Strand
from phobos_nb.simulate.tensor_cores import multiply_accumulate
from phobos_nb.simulate.values import Array, Bools, DTypeLike, Ref
from phobos_nb.simulate.whole_warps import check_whole_warps

TF32_MASK = np.uint32(0xFFFFE000)
"""The bits of an f32 that a tf32 operand keeps; the hardware ignores the others."""


def _load_matrix(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, LdMatrixOp)
    dtype = element_dtype(op.src.type)
    row_elements, per, tiles = 16 // dtype.itemsize, 4 // dtype.itemsize, op.tiles.value.data
    site = Site(d.op, "matrix", (row_elements,), row_elements)
    d.touch(op.src.type)
    indices = indices_of(d, op.src, op.indices, (row_elements,))
    base, r = d.slot(op.src), d.slot(op.result)
    tile = matrix_tile(per, transpose=bool(op.transpose.value.data))
    ramp = np.arange(row_elements, dtype=np.int64)[:, None]
    lane = np.arange(WARP)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        check_whole_warps(m, s, site.op, "ldmatrix")
        ref: Ref = v[base]
        gives = np.tile(lane < 8 * tiles, s.count // WARP)
        live = gives if s.mask is None else gives & s.mask
        where = reach(m, s, site, ref, indices, ramp, None if live.all() else live)
        watch_read(m, s, site, ref, where)
        live = whole(s, where)
        addresses = np.where(live, np.broadcast_to(where.at, (s.count,)), 0).reshape(-1, WARP)
        source = 8 * np.arange(tiles)[:, None, None] + tile.rows
        positions = addresses[:, source] + tile.columns
        values = ref.memory.allocation.typed(dtype).take(positions)
        v[r] = np.moveaxis(values, 0, 2).reshape(tiles, per, s.count)

    return step


def whole(s: Strand, where: Located) -> Bools:
    """The lanes whose part of an access takes place from end to end."""
    live = where.live
    if live is None:
        return np.ones(s.count, np.bool_)
    return live if live.ndim < 2 else np.asarray(live.all(0), np.bool_)


def gather(matrix: Array, fragment: Fragment) -> Array:
    """A warp's matrices [warps, rows, columns] as fragments [registers, per, lanes]."""
    values = matrix[:, fragment.rows, fragment.columns]
    registers, per, _ = fragment.rows.shape
    return np.moveaxis(values, 0, 2).reshape(registers, per, -1)


def scatter(values: Array, fragment: Fragment, shape: tuple[int, int], dtype: DTypeLike) -> Array:
    """Fragments [registers, per, lanes] as matrices [warps, rows, columns]."""
    registers, per, _ = fragment.rows.shape
    warps = values.shape[-1] // WARP
    matrix = np.zeros((warps, *shape), dtype)
    by_warp = np.moveaxis(values.reshape(registers, per, warps, WARP), 2, 0)
    matrix[:, fragment.rows, fragment.columns] = by_warp
    return matrix


def _product(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, MmaSyncOp)
    rows, columns, depth = op.mnk
    source, target = element_dtype(op.a.type), element_dtype(op.c.type)
    per = max(1, 4 // source.itemsize)
    of_a, of_b, of_c = operand_a(rows, depth, per), operand_b(depth, per), accumulator(rows)
    a, b, c, r = d.slot(op.a), d.slot(op.b), d.slot(op.c), d.slot(op.result)
    exact = np.dtype(np.int64 if source.kind == "i" else np.float64)
    tf32, index = source == np.dtype(np.float32), d.op

    def operand(value: Any, count: int) -> Array:
        wide = np.ascontiguousarray(np.broadcast_to(value, (*value.shape[:-1], count)))
        return (wide.view(np.uint32) & TF32_MASK).view(np.float32) if tf32 else wide

    def step(m: Machine, s: Strand) -> None:
        v, n = s.values, s.count
        check_whole_warps(m, s, index, "mma.sync")
        left = scatter(operand(v[a], n), of_a, (rows, depth), exact)
        right = scatter(operand(v[b], n), of_b, (depth, columns), exact)
        acc = np.broadcast_to(v[c], (*v[c].shape[:-1], n))
        start = scatter(acc, of_c, (rows, columns), target)
        total = multiply_accumulate(m.target, left, right, start, source, target)
        v[r] = gather(total, of_c)

    return step


MATRIX_ROWS: dict[str, Row] = {"nvgpu.ldmatrix": _load_matrix, "nvgpu.mma.sync": _product}
