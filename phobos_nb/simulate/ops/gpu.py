"""Rows of the dialect `gpu`: ids, barriers, shuffles, prints."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects import gpu as xdsl_gpu
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from phobos_nb.arguments.show import shown_line
from phobos_nb.ir.dialects.gpu import PrintfOp, ShuffleMode, ShuffleOp
from phobos_nb.simulate.barriers import arrive
from phobos_nb.simulate.findings import report_lanes
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.ops.memref import shared_bytes
from phobos_nb.simulate.program import Decoder, Row, Step
from phobos_nb.simulate.program_points import END
from phobos_nb.simulate.strand import WARP, Strand
from phobos_nb.simulate.values import Array, Ints, Value, is_array

AXES = "xyz"


def _id(function: Callable[[Machine, Strand, int], Value]) -> Row:
    """An id along the axis that the operation names."""

    def row(d: Decoder, op: Operation) -> Step:
        r = d.slot(op.results[0])
        dimension = op.properties.get("dimension")
        axis = AXES.index(str(dimension.data)) if isinstance(dimension, xdsl_gpu.DimensionAttr) else 0

        def step(m: Machine, s: Strand) -> None:
            s.values[r] = function(m, s, axis)

        return step

    return row


def _thread_id(m: Machine, s: Strand, axis: int) -> Value:
    return s.thread if axis == 0 else 0


def _block_id(m: Machine, s: Strand, axis: int) -> Value:
    if m.shape.grid[axis] == 1:
        return 0
    ids = m.shape.ids(m.ctas)[axis]
    return int(ids[0]) if len(ids) == 1 else ids[s.cta]


def _cluster_id(m: Machine, s: Strand, axis: int) -> Value:
    return _block_id(m, s, axis) // m.shape.cluster[axis]


def _cluster_dim(m: Machine, s: Strand, axis: int) -> Value:
    return m.shape.grid[axis] // m.shape.cluster[axis]


def _cluster_block_id(m: Machine, s: Strand, axis: int) -> Value:
    return _block_id(m, s, axis) % m.shape.cluster[axis]


def _cluster_dim_blocks(m: Machine, s: Strand, axis: int) -> Value:
    return m.shape.cluster[axis]


def _block_dim(m: Machine, s: Strand, axis: int) -> Value:
    return m.shape.threads if axis == 0 else 1


def _grid_dim(m: Machine, s: Strand, axis: int) -> Value:
    return m.shape.grid[axis]


def _lane_id(m: Machine, s: Strand, axis: int) -> Value:
    return s.thread % WARP


def _warp_id(m: Machine, s: Strand, axis: int) -> Value:
    return s.thread // WARP


def _warps(m: Machine, s: Strand, axis: int) -> Value:
    return m.shape.threads // WARP


def _warp_size(m: Machine, s: Strand, axis: int) -> Value:
    return WARP


def _global_id(m: Machine, s: Strand, axis: int) -> Value:
    return _block_id(m, s, axis) * _block_dim(m, s, axis) + _thread_id(m, s, axis)


def _barrier(d: Decoder, op: Operation) -> Step:
    d.keep_reason(op)
    index, following = d.op, d.here + 1

    def step(m: Machine, s: Strand) -> int | None:
        return arrive(m, s, index, following)

    return step


def _return(d: Decoder, op: Operation) -> Step:
    def step(m: Machine, s: Strand) -> int:
        return END

    return step


def _shuffle(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, ShuffleOp)
    value, offset, width = d.slots(op.operands)
    r, ok, index, mode = d.slot(op.result), d.slot(op.valid), d.op, op.mode.data

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        source, valid = source_lanes(mode, v[offset], v[width], s)
        if not is_array(v[value]) or (v[value].ndim > 1 and v[value].shape[-1] == 1):
            v[r] = v[value]
        else:
            v[r] = v[value][..., source]
        v[ok] = valid
        if s.mask is not None:
            _check_partners(m, s, index, source, valid)

    return step


def source_lanes(mode: ShuffleMode, offset: Value, width: Value, s: Strand) -> tuple[Ints, Array]:
    """For every lane of a strand the position it reads, and whether that lies in its group."""
    lane = s.thread % WARP
    group = lane & ~(np.asarray(width) - 1)
    wanted: Any
    if mode is ShuffleMode.XOR:
        wanted = lane ^ offset
    elif mode is ShuffleMode.UP:
        wanted = lane - offset
    elif mode is ShuffleMode.DOWN:
        wanted = lane + offset
    else:
        wanted = group + (np.asarray(offset) & (np.asarray(width) - 1))
    valid = (wanted >= group) & (wanted < group + width)
    base = np.arange(s.count) - lane
    return base + np.where(valid, wanted, lane), valid


def _check_partners(m: Machine, s: Strand, op: int, source: Ints, valid: Array) -> None:
    """A lane that reads one that does not take part gets an undefined value."""
    assert s.mask is not None
    bad = s.mask & valid & ~s.mask[source]
    if bad.any():
        lane = int(bad.argmax())
        text = (
            f"reads lane {int(s.thread[source[lane]]) % WARP}, which does not take part in the shuffle"
        )
        report_lanes(m, s, "shuffle", op, text, bad, lane)


_FIELD = re.compile(r"%[-+ 0#]*\d*(?:\.\d+)?(?:hh|h|ll|l|z)?[diufFeEgGxXcs%]")


def _printf(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, PrintfOp)
    show, arguments = _line_of(op), d.slots(op.arguments)

    def step(m: Machine, s: Strand) -> None:
        for lane in s.active.tolist():
            values = [s.values[a] for a in arguments]
            shown = [v[lane].item() if is_array(v) else v for v in values]
            m.prints.append((int(s.gid[lane]), show(shown)))

    return step


def _line_of(op: PrintfOp) -> Callable[[list[Any]], str]:
    """From values to the line: by the author's text where the lowering left it, else by C's format."""
    text, types = op.attributes.get("phobos.text"), op.attributes.get("phobos.types")
    if isinstance(text, StringAttr) and isinstance(types, StringAttr):
        return partial(shown_line, text.data, types.data.split())
    return partial(format_c, op.format.data)


def format_c(text: str, values: list[Any]) -> str:
    """`printf` formatting of Python values."""
    rest = iter(values)

    def one(match: re.Match[str]) -> str:
        spec = re.sub(r"hh|h|ll|l|z", "", match.group())
        return "%" if spec == "%%" else spec.replace("u", "d") % next(rest)

    return _FIELD.sub(one, text)


ROWS: dict[str, Row] = {
    "gpu.thread_id": _id(_thread_id),
    "gpu.block_id": _id(_block_id),
    "gpu.block_dim": _id(_block_dim),
    "gpu.grid_dim": _id(_grid_dim),
    "gpu.cluster_id": _id(_cluster_id),
    "gpu.cluster_dim": _id(_cluster_dim),
    "gpu.cluster_block_id": _id(_cluster_block_id),
    "gpu.cluster_dim_blocks": _id(_cluster_dim_blocks),
    "gpu.lane_id": _id(_lane_id),
    "gpu.subgroup_id": _id(_warp_id),
    "gpu.num_subgroups": _id(_warps),
    "gpu.subgroup_size": _id(_warp_size),
    "gpu.global_id": _id(_global_id),
    "gpu.barrier": _barrier,
    "gpu.shuffle": _shuffle,
    "gpu.printf": _printf,
    "gpu.dynamic_shared_memory": shared_bytes,
    "gpu.return": _return,
}
