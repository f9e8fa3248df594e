"""Rows of the dialect `nvgpu`; asynchronous copies here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.ir import Operation

from phobos_nb.ir.dialects.nvgpu import (
    DeviceAsyncCopyOp,
    DeviceAsyncCreateGroupOp,
    DeviceAsyncWaitOp,
)
from phobos_nb.simulate.access import load
from phobos_nb.simulate.copies import commit, issue, wait
from phobos_nb.simulate.counting import mark_spread
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.ops.bulk import BULK_ROWS
from phobos_nb.simulate.ops.extents import indices_of, reach
from phobos_nb.simulate.ops.matrix import MATRIX_ROWS, whole
from phobos_nb.simulate.ops.mbarrier import MBARRIER_ROWS
from phobos_nb.simulate.ops.named import copied_elements
from phobos_nb.simulate.program import Decoder, Row, Step, element_dtype
from phobos_nb.simulate.site import Located, Site
from phobos_nb.simulate.strand import WARP, Strand
from phobos_nb.simulate.trace import ACCESSES, trace_operation
from phobos_nb.simulate.values import Ref

NARROW = 4
"""Bytes of the copies whose wavefronts counters show."""


def _copy(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, DeviceAsyncCopyOp)
    n = op.dst_elements.value.data
    d.touch(op.dst.type)
    source = Site(d.op, "load", (n,), n, copied=True, named=copied_elements(d, op))
    target = Site(d.op, "async", (n,), n)
    dst, dst_indices = d.slot(op.dst), indices_of(d, op.dst, op.dst_indices, (n,))
    src, src_indices = d.slot(op.src), indices_of(d, op.src, op.src_indices, (n,))
    given = None if op.src_elements is None else d.slot(op.src_elements)
    token, dtype = d.slot(op.token), element_dtype(op.dst.type)
    ramp = np.arange(n, dtype=np.int64)[:, None]
    narrow = n * dtype.itemsize <= NARROW

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        v[token] = 0
        from_: Ref = v[src]
        live, fill = s.mask, None
        if given is not None:
            live, fill = ramp < v[given], np.zeros((n, 1), dtype)
            live = np.broadcast_to(live, (n, s.count)) if s.mask is None else live & s.mask
            live = None if live.all() else live
        where = reach(m, s, source, from_, src_indices, ramp, live)
        data: Any = load(m, s, source, from_, where, fill=fill)
        to: Ref = v[dst]
        there = reach(m, s, target, to, dst_indices, ramp, s.mask)
        if there.live is not None:
            there = replace(there, live=whole(s, there))
        issue(m, s, target, to, there, data)
        if narrow and not _neighbours(s, where):
            mark_spread(m, target, to)

    return step


def _neighbours(s: Strand, where: Located) -> bool:
    """Whether in each warp the lanes that read device memory read neighbouring elements in order."""
    lanes = np.arange(s.count).reshape(-1, WARP) % WARP
    first = (np.broadcast_to(where.at, (s.count,)).reshape(-1, WARP) - lanes).astype(np.int64)
    if where.live is None:
        return bool((first == first[:, :1]).all())
    live = where.live.all(0) if where.live.ndim > 1 else where.live
    live = np.broadcast_to(live, (s.count,)).reshape(-1, WARP)
    low = np.where(live, first, np.iinfo(np.int64).max).min(1)
    high = np.where(live, first, np.iinfo(np.int64).min).max(1)
    return bool((low >= high).all())


def _create_group(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, DeviceAsyncCreateGroupOp)
    token = d.slot(op.token)

    def step(m: Machine, s: Strand) -> None:
        s.values[token] = 0
        commit(s)

    return step


def _wait(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, DeviceAsyncWaitOp)
    groups, index = 0 if op.groups is None else op.groups.value.data, d.op

    def step(m: Machine, s: Strand) -> None:
        wait(m, s, groups)
        trace_operation(m, s, index, "wait", ACCESSES)

    return step


ROWS: dict[str, Row] = {
    "nvgpu.device_async_copy": _copy,
    "nvgpu.device_async_create_group": _create_group,
    "nvgpu.device_async_wait": _wait,
    **MATRIX_ROWS,
    **MBARRIER_ROWS,
    **BULK_ROWS,
}
