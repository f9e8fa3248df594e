"""Rows of `phobos.stmatrix` and `phobos.movmatrix`."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from phobos_nb.ir.dialects.matrix_moves import MovMatrixOp, StMatrixOp
from phobos_nb.simulate.access import watch_write
from phobos_nb.simulate.fragments import matrix_tile
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.ops.common import static_shape
from phobos_nb.simulate.ops.extents import indices_of, reach
from phobos_nb.simulate.program import Decoder, Row, Step, element_dtype
from phobos_nb.simulate.site import Site
from phobos_nb.simulate.strand import WARP, Strand
from phobos_nb.simulate.values import Array, Ref
from phobos_nb.simulate.whole_warps import check_whole_warps

ROW = 8
"""Elements of a tile's row: 16 bytes."""
PER = 2
"""Elements of a register."""


def _store_matrix(d: Decoder, op: Operation) -> Step:
    """Lane l gives the address of row l; the watched access is the row that each lane names."""
    assert isinstance(op, StMatrixOp)
    dtype = element_dtype(op.dst.type)
    tiles = static_shape(op.value.type)[0]
    site = Site(d.op, "matrix_store", (ROW,), ROW)
    d.touch(op.dst.type)
    indices = indices_of(d, op.dst, op.indices, (ROW,))
    value, base = d.slot(op.value), d.slot(op.dst)
    tile = matrix_tile(PER, transpose=bool(op.transpose.value.data))
    ramp = np.arange(ROW, dtype=np.int64)[:, None]
    gives = np.arange(WARP) < ROW * tiles

    def step(m: Machine, s: Strand) -> None:
        v, warps = s.values, s.count // WARP
        check_whole_warps(m, s, site.op, "stmatrix")
        ref: Ref = v[base]
        live = np.tile(gives, warps) if s.mask is None else np.tile(gives, warps) & s.mask
        where = reach(m, s, site, ref, indices, ramp, None if live.all() else live)
        rows = np.zeros((warps, tiles * ROW, ROW), dtype)
        held = np.broadcast_to(v[value], (tiles, PER, s.count)).reshape(tiles, PER, warps, WARP)
        for t in range(tiles):
            rows[:, ROW * t + tile.rows[0], tile.columns[0]] = held[t].transpose(1, 0, 2)
        data = np.zeros((ROW, warps, WARP), dtype)
        data[:, :, : ROW * tiles] = rows.transpose(2, 0, 1)
        typed = ref.memory.allocation.typed(dtype)
        positions = np.broadcast_to(where.positions(), (ROW, s.count))
        active = np.broadcast_to(where.live if where.live is not None else True, (ROW, s.count))
        typed[positions[active]] = data.reshape(ROW, s.count)[active]
        watch_write(m, s, site, ref, where)

    return step


def _move_matrix(d: Decoder, op: Operation) -> Step:
    """Lane l holds two elements of row l // 4; afterwards two of column l // 4."""
    assert isinstance(op, MovMatrixOp)
    value, r, index = d.slot(op.value), d.slot(op.result), d.op
    straight, turned = matrix_tile(PER, transpose=False), matrix_tile(PER, transpose=True)

    def step(m: Machine, s: Strand) -> None:
        check_whole_warps(m, s, index, "movmatrix")
        held: Array = np.broadcast_to(s.values[value], (1, PER, s.count)).reshape(PER, -1, WARP)
        matrix = np.zeros((held.shape[1], ROW, ROW), held.dtype)
        matrix[:, straight.rows[0], straight.columns[0]] = held.transpose(1, 0, 2)
        moved = matrix[:, turned.rows[0], turned.columns[0]]
        s.values[r] = np.ascontiguousarray(moved.transpose(1, 0, 2)).reshape(1, PER, s.count)

    return step


TILE_ROWS: dict[str, Row] = {
    "phobos.stmatrix": _store_matrix,
    "phobos.movmatrix": _move_matrix,
}
