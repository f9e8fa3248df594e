"""Sums of a split loop, left in scratch and added again: see Note [Split-K].

The part of a CTA lies as its threads hold it: run after run of up to 16 bytes, in each run the threads
side by side, so that every access is coalesced whatever the layout.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from phobos_nb.lower import staged
from phobos_nb.lower.layout_types import byte_width
from phobos_nb.lower.thread_state import Parts, ThreadState

WIDEST = 16
AT_ONCE = 128
"""Elements of parts that a thread loads before it adds them."""


def distribute_leave_part(state: ThreadState, op: staged.LeavePartOp) -> None:
    """Store the thread's slots."""
    b, value = state.b, state.get(op.value)
    type_ = state.type_of(op.value)
    width = _width(type_)
    parts = _parts(state)
    start = _place(state, parts, state.blocks[2], op.offset.value.data, width)
    for slot, place in _runs(state, type_, width, start):
        run = b.extract_run(value, slot, width)
        b.vector_store(run, parts.base, [place], width * byte_width(type_.element_type))


def distribute_add_parts(state: ThreadState, op: staged.AddPartsOp) -> None:
    """A loop over the parts, several at a time, added in order."""
    b, type_ = state.b, state.type_of(op.result)
    width, parts, count = _width(type_), _parts(state), op.parts.value.data
    most = max(1, AT_ONCE // math.prod(type_.get_shape()))
    group = max(n for n in range(1, min(count, most) + 1) if count % n == 0)
    loop = b.for_(b.index(0), b.index(count), b.index(group), [state.get(op.start)])
    with b.inside(loop.body.block):
        first, total = loop.body.block.args
        loaded: list[SSAValue] = []
        for number in range(group):
            z = b.addi(first, b.index(number))
            start = _place(state, parts, z, op.offset.value.data, width)
            loaded.append(_load(state, parts, type_, width, start))
        sums: SSAValue = total
        for part in loaded:
            sums = b.addf(sums, part)
        b.yield_([sums])
    state.values[op.result] = loop.results[0]


def _load(
    state: ThreadState, parts: Parts, type_: VectorType[Attribute], width: int, start: SSAValue
) -> SSAValue:
    b = state.b
    whole = b.zero(type_)
    alignment = width * byte_width(type_.element_type)
    run_type = VectorType(type_.element_type, [width])
    for slot, place in _runs(state, type_, width, start):
        whole = b.insert_strided_slice(
            b.vector_load(parts.base, [place], run_type, alignment), whole, slot
        )
    return whole


def _parts(state: ThreadState) -> Parts:
    assert state.parts is not None
    return state.parts


def _width(type_: VectorType[Attribute]) -> int:
    return math.gcd(type_.get_shape()[-1], WIDEST // byte_width(type_.element_type))


def _place(state: ThreadState, parts: Parts, z: SSAValue, offset: int, width: int) -> SSAValue:
    """The thread's first element in a part of this CTA's tile."""
    b = state.b
    x, y = state.blocks[:2]
    columns, rows = b.grid_dim("x"), b.grid_dim("y")
    tile = b.addi(b.muli(b.addi(b.muli(z, rows), y), columns), x)
    own = b.addi(b.muli(state.thread, b.index(width)), b.index(offset))
    return b.addi(b.muli(tile, b.index(parts.sums)), own)


def _runs(
    state: ThreadState, type_: VectorType[Attribute], width: int, start: SSAValue
) -> Iterator[tuple[tuple[int, ...], SSAValue]]:
    """The first slot and the place of every run."""
    *outer, last = type_.get_shape()
    slots = itertools.product(*(range(n) for n in outer), range(0, last, width))
    for number, slot in enumerate(slots):
        yield slot, state.b.addi(start, state.b.index(number * state.threads * width))
