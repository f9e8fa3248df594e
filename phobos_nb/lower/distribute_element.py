"""Element accesses, gathers and atomics per thread: one masked scalar access each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from phobos_nb.ir.atomic_kinds import atomic_kind
from phobos_nb.ir.bounds import Limit
from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.memref import GenericAtomicRMWOp
from phobos_nb.ir.dialects.shapes import element_of, is_float
from phobos_nb.lower.layout_types import is_tile
from phobos_nb.lower.layouts import Layout
from phobos_nb.lower.thread_state import Tensor, ThreadState


def _inside(
    state: ThreadState, tensor: Tensor, indices: Sequence[SSAValue], masked: Sequence[bool]
) -> SSAValue | None:
    """Whether an element lies in the tensor; None where that is known."""
    condition: SSAValue | None = None
    for index, extent, check in zip(indices, tensor.extents, masked, strict=True):
        if check:
            condition = state.both(condition, state.inside(index, Limit(extent)))
    return condition


def _address(state: ThreadState, tensor: Tensor, indices: Sequence[SSAValue]) -> SSAValue:
    b, total = state.b, state.b.index(0)
    for index, stride in zip(indices, tensor.strides, strict=True):
        total = b.addi(total, b.muli(index, stride))
    return total


def _offsets(layout: Layout) -> Iterator[tuple[int, ...]]:
    """Of every slot, in order: its offset along each axis from the thread's place."""
    return itertools.product(*(axis.offsets for axis in layout.axes))


def _in_tile(state: ThreadState, layout: Layout, offsets: tuple[int, ...]) -> SSAValue | None:
    """Whether a slot is one of the tile's; None where all are."""
    condition: SSAValue | None = None
    for axis, offset in enumerate(offsets):
        if layout.overhangs(axis):
            condition = state.both(condition, state.in_tile(layout, axis, offset))
    return condition


def _once(state: ThreadState) -> SSAValue:
    """Whether this is the thread that does what happens once per CTA."""
    return state.b.cmpi("eq", state.thread, state.b.index(0))


def distribute_load_element(state: ThreadState, op: tile.LoadElementOp) -> None:
    """Zero outside the tensor."""
    b, tensor = state.b, state.tensors[op.source]
    indices = [state.get(i) for i in op.indices]
    address = _address(state, tensor, indices)
    state.values[op.result] = b.choose(
        _inside(state, tensor, indices, op.masked),
        lambda: b.load(tensor.base, [address]),
        lambda: b.zero(op.result.type),
    )


def distribute_store_element(state: ThreadState, op: tile.StoreElementOp) -> None:
    """Skipped outside the tensor; by one thread where it happens once."""
    b, tensor = state.b, state.tensors[op.destination]
    indices = [state.get(i) for i in op.indices]
    condition = _inside(state, tensor, indices, op.masked)
    if op.once is not None:
        condition = state.both(condition, _once(state))
    address = _address(state, tensor, indices)
    b.when(condition, lambda: b.store(state.get(op.value), tensor.base, [address]))


def distribute_load_shared(state: ThreadState, op: tile.LoadSharedOp) -> None:
    """An element of an author-managed array."""
    indices = [state.get(i) for i in op.indices]
    state.values[op.result] = state.b.load(state.get(op.source), indices)


def distribute_store_shared(state: ThreadState, op: tile.StoreSharedOp) -> None:
    """An element of an author-managed array; by one thread where it happens once."""
    indices = [state.get(i) for i in op.indices]
    store = partial(state.b.store, state.get(op.value), state.get(op.destination), indices)
    state.b.when(None if op.once is None else _once(state), store)


def distribute_gather(state: ThreadState, op: tile.GatherOp) -> None:
    """One element of the table for every slot that lies in the tile."""
    b, tensor = state.b, state.tensors[op.table]
    zero = b.zero(element_of(op.result.type))
    layout = state.layout(op.positions)
    found: list[SSAValue] = []
    positions = b.to_elements(state.get(op.positions))
    for position, offsets in zip(positions, _offsets(layout), strict=True):
        index = b.index_cast(position, b.index(0).type)
        condition = _in_tile(state, layout, offsets)
        condition = state.both(condition, _inside(state, tensor, [index], op.masked))
        load = partial(b.load, tensor.base, [_address(state, tensor, [index])])
        found.append(b.choose(condition, load, lambda: zero))
    state.values[op.result] = b.from_elements(found, state.type_of(op.result))


def distribute_atomic(state: ThreadState, op: tile.AtomicOp) -> None:
    """A scalar once per active thread, a tile once per element."""
    b, tensor = state.b, state.tensors[op.destination]
    origin = [state.get(i) for i in op.indices]
    if not is_tile(op.value):
        value = state.get(op.value)
        update = partial(_update, state, op, tensor, origin, value)
        condition = _inside(state, tensor, origin, op.masked)
        result = b.choose(condition, update, lambda: b.zero(value.type))
        if op.result is not None:
            state.values[op.result] = result
        return
    layout = state.layout(op.value)
    first = state.first_replica(layout)
    skip = len(origin) - len(layout.shape)
    for scalar, offsets in zip(b.to_elements(state.get(op.value)), _offsets(layout), strict=True):
        condition = state.both(first, _in_tile(state, layout, offsets))
        places = [state.place(layout, axis, offset) for axis, offset in enumerate(offsets)]
        indices = [*origin[:skip], *map(b.addi, origin[skip:], places)]
        condition = state.both(condition, _inside(state, tensor, indices, op.masked))
        b.when(condition, partial(_discard, partial(_update, state, op, tensor, indices, scalar)))


def distribute_atomic_cas(state: ThreadState, op: tile.AtomicCasOp) -> None:
    """The element before, zero outside the tensor."""
    b, tensor = state.b, state.tensors[op.destination]
    indices = [state.get(i) for i in op.indices]
    address = _address(state, tensor, indices)

    def swap() -> SSAValue:
        compare, value = state.get(op.compare), state.get(op.value)
        return b.value(GenericAtomicRMWOp.compare_and_swap(tensor.base, [address], compare, value))

    inside = _inside(state, tensor, indices, op.masked)
    state.values[op.result] = b.choose(inside, swap, lambda: b.zero(op.result.type))


def _discard(update: partial[SSAValue]) -> None:
    update()


def _update(
    state: ThreadState, op: tile.AtomicOp, tensor: Tensor, indices: Sequence[SSAValue], value: SSAValue
) -> SSAValue:
    number = atomic_kind(op.kind.data, is_float=is_float(value.type))
    update = memref.AtomicRMWOp.build(
        operands=[value, tensor.base, [_address(state, tensor, indices)]],
        properties={"kind": IntegerAttr(number, i64)},
        result_types=[value.type],
    )
    return state.b.value(update)
