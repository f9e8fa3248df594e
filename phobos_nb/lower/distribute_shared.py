"""Trips of tiles through shared buffers per thread."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from xdsl.dialects.builtin import IndexType, IntegerType, VectorType
from xdsl.ir import Attribute, SSAValue

from phobos_nb.ir.dialects.shapes import element_of
from phobos_nb.lower import staged
from phobos_nb.lower.layout_types import byte_width
from phobos_nb.lower.layouts import Layout
from phobos_nb.lower.thread_state import ThreadState

VECTOR_BYTES = 16


@dataclass(frozen=True)
class Places:
    """Where the slots of a layout lie in a view of a buffer.

    order: tile axis of each physical axis; width: slots of one access along the innermost.
    """

    layout: Layout
    order: tuple[int, ...]
    physical: tuple[int, ...]
    width: int

    @property
    def permuted(self) -> bool:
        """Whether the physical order of axes is not the tile's."""
        return self.order != tuple(range(len(self.order)))

    def accesses(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The first slot (in physical axis order) and the constant indices of every access."""
        lists = [list(enumerate(self.layout.axes[a].offsets)) for a in self.order]
        lists[-1] = lists[-1][:: self.width]
        return [
            (tuple(s for s, _ in place), tuple(o for _, o in place))
            for place in itertools.product(*lists)
        ]


def places_in(buffer: SSAValue, layout: Layout, *, flat: bool) -> Places:
    """The places of a layout's slots in a buffer, or in its row-major reading as the layout's shape."""
    maker = cast(staged.BufferOp, buffer.owner)
    if flat:
        order, physical = tuple(range(len(layout.shape))), layout.shape
    else:
        order, physical = maker.axis_order, maker.physical
    size = byte_width(maker.type_.element_type)
    width = min(layout.axes[order[-1]].run, max(1, VECTOR_BYTES // size))
    while physical[-1] % width:
        width //= 2
    if any(layout.cover[a] > n for a, n in zip(order, physical, strict=True)):
        width = 1
    return Places(layout, order, physical, width)


def _guard(state: ThreadState, places: Places, offsets: Sequence[int]) -> SSAValue | None:
    """Whether a slot lies inside the buffer, where some thread's does not."""
    condition = None
    for axis, extent, offset in zip(places.order, places.physical, offsets, strict=True):
        held = places.layout.axes[axis]
        if held.cover - held.offsets[-1] + offset > extent:
            b = state.b
            place = b.addi(state.coordinate(held), b.index(offset))
            condition = state.both(condition, b.cmpi("ult", place, b.index(extent)))
    return condition


def is_flat(buffer: SSAValue, layout: Layout) -> bool:
    """Whether a tile of another shape than the buffer's is read in row-major order."""
    maker = cast(staged.BufferOp, buffer.owner)
    extents = maker.physical
    return len(extents) != len(layout.shape) or any(
        layout.shape[a] > n for a, n in zip(maker.axis_order, extents, strict=True)
    )


def distribute_write(state: ThreadState, op: staged.WriteOp) -> None:
    """Each thread writes its slots; copies are written once."""
    write_tile(state, op)


def write_tile(state: ThreadState, op: staged.WriteOp, *stage: SSAValue) -> None:
    """Write the thread's slots, to one stage of the buffer where it has several."""
    layout = state.layout(op.value)
    places = places_in(op.buffer, layout, flat=False)
    view = state.view(op.buffer, layout)
    memory = cast(staged.BufferOp, op.buffer.owner).type_.element_type
    value = _to_memory(state, state.get(op.value), memory)
    state.b.when(state.first_replica(layout), partial(_write, state, places, view, value, stage))


def _write(
    state: ThreadState, places: Places, view: SSAValue, value: SSAValue, stage: tuple[SSAValue, ...]
) -> None:
    b = state.b
    if places.permuted:
        value = b.transpose(value, places.order)
    scalars = b.to_elements(value) if places.width == 1 else []
    alignment = byte_width(element_of(value.type)) * places.width
    for number, (slot, offsets) in enumerate(places.accesses()):
        indices = [*stage, *(b.index(o) for o in offsets)]
        if places.width > 1:
            b.vector_store(b.extract_run(value, slot, places.width), view, indices, alignment)
        else:
            store = partial(b.store, scalars[number], view, indices)
            b.when(_guard(state, places, offsets), store)


def distribute_read(state: ThreadState, op: staged.ReadOp) -> None:
    """Each thread reads its slots."""
    b, layout = state.b, state.layout(op.result)
    flat = is_flat(op.buffer, layout)
    places = places_in(op.buffer, layout, flat=flat)
    view = state.view(op.buffer, layout, shape=places.physical if flat else None)
    memory = cast(staged.BufferOp, op.buffer.owner).type_.element_type
    slots = [layout.slots[a] for a in places.order]
    type_ = VectorType(memory, slots)
    value = (
        _read_runs(state, places, view, type_)
        if places.width > 1
        else _read_scalars(state, places, view, type_)
    )
    if places.permuted:
        value = b.transpose(value, [places.order.index(a) for a in range(len(slots))])
    state.values[op.result] = _from_memory(state, value, state.type_of(op.result).element_type)


def _read_runs(
    state: ThreadState, places: Places, view: SSAValue, type_: VectorType[Attribute]
) -> SSAValue:
    b, whole = state.b, state.b.zero(type_)
    part_type = VectorType(type_.element_type, [places.width])
    alignment = byte_width(type_.element_type) * places.width
    for slot, offsets in places.accesses():
        part = b.vector_load(view, [b.index(o) for o in offsets], part_type, alignment)
        whole = b.insert_strided_slice(part, whole, slot)
    return whole


def _read_scalars(
    state: ThreadState, places: Places, view: SSAValue, type_: VectorType[Attribute]
) -> SSAValue:
    b = state.b
    scalars: list[SSAValue] = []
    for _, offsets in places.accesses():
        load = partial(b.load, view, [b.index(o) for o in offsets])
        zero = partial(b.zero, type_.element_type)
        scalars.append(b.choose(_guard(state, places, offsets), load, zero))
    return b.from_elements(scalars, type_)


def _to_memory(state: ThreadState, value: SSAValue, memory: Attribute) -> SSAValue:
    """Bools and indices have no place of their own in memory; they are kept as i8 and i64."""
    held = element_of(value.type)
    if held == memory:
        return value
    return state.b.extui(value, memory) if held == IntegerType(1) else state.b.index_cast(value, memory)


def _from_memory(state: ThreadState, value: SSAValue, wanted: Attribute) -> SSAValue:
    if element_of(value.type) == wanted:
        return value
    if wanted == IntegerType(1):
        return state.b.trunci(value, wanted)
    assert isinstance(wanted, IndexType)
    return state.b.index_cast(value, wanted)
