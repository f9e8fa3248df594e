"""Trips of tiles through shared buffers per thread, and dot on buffers: one outer product per k-step."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from xdsl.dialects.builtin import IndexType, IntegerType, StringAttr, VectorType, f32, f64, i32, i64
from xdsl.ir import Attribute, SSAValue

from phobos_nb.ir.dialects.shapes import element_of, is_float
from phobos_nb.lower import staged
from phobos_nb.lower.layout_types import byte_width
from phobos_nb.lower.layouts import Axis, Layout
from phobos_nb.lower.thread_state import ThreadState

VECTOR_BYTES = 16
ORDER = "phobos.order"


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


def _places(buffer: SSAValue, layout: Layout, *, flat: bool) -> Places:
    maker = cast(staged.BufferOp, buffer.owner)
    if flat:
        order, physical = tuple(range(len(layout.shape))), layout.shape
    else:
        order, physical = maker.axis_order, tuple(maker.type_.get_shape())
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


def _is_flat(buffer: SSAValue, layout: Layout) -> bool:
    """Whether a tile of another shape than the buffer's is read in row-major order."""
    maker = cast(staged.BufferOp, buffer.owner)
    extents = tuple(maker.type_.get_shape())
    return len(extents) != len(layout.shape) or any(
        layout.shape[a] > n for a, n in zip(maker.axis_order, extents, strict=True)
    )


def distribute_write(state: ThreadState, op: staged.WriteOp) -> None:
    """Each thread writes its slots; copies are written once."""
    layout = state.layout(op.value)
    places = _places(op.buffer, layout, flat=False)
    view = state.view(op.buffer, layout)
    memory = cast(staged.BufferOp, op.buffer.owner).type_.element_type
    value = _to_memory(state, state.get(op.value), memory)
    state.b.when(state.first_replica(layout), partial(_write, state, places, view, value))


def _write(state: ThreadState, places: Places, view: SSAValue, value: SSAValue) -> None:
    b = state.b
    if places.permuted:
        value = b.transpose(value, places.order)
    scalars = b.to_elements(value) if places.width == 1 else []
    alignment = byte_width(element_of(value.type)) * places.width
    for number, (slot, offsets) in enumerate(places.accesses()):
        indices = [b.index(o) for o in offsets]
        if places.width > 1:
            b.vector_store(b.extract_run(value, slot, places.width), view, indices, alignment)
        else:
            store = partial(b.store, scalars[number], view, indices)
            b.when(_guard(state, places, offsets), store)


def distribute_read(state: ThreadState, op: staged.ReadOp) -> None:
    """Each thread reads its slots."""
    b, layout = state.b, state.layout(op.result)
    flat = _is_flat(op.buffer, layout)
    places = _places(op.buffer, layout, flat=flat)
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


def distribute_dot(state: ThreadState, op: staged.DotOp) -> None:
    """K-steps unrolled in groups, the groups in a loop; sums in the type of `_sum_type`."""
    b, layout = state.b, state.layout(op.acc)
    sums = _sum_type(element_of(op.a.type))
    acc = _widen(state, state.get(op.acc), sums, unsigned=False)
    fragments = (
        _Fragment(state, op.a, layout.axes[0], sums, op.unsigned_a is not None),
        _Fragment(state, op.b, layout.axes[1], sums, op.unsigned_b is not None),
    )
    depth, unroll = op.depth.value.data, op.unroll_k.value.data
    looped = depth // unroll * unroll if depth > unroll else 0
    if looped:
        loop = b.for_(b.index(0), b.index(looped), b.index(unroll), [acc])
        with b.inside(loop.body.block):
            start, inner = loop.body.block.args
            for step in range(unroll):
                inner = _step(state, fragments, b.addi(start, b.index(step)), inner, op)
            b.yield_([inner])
        acc = loop.results[0]
    for step in range(looped, depth):
        acc = _step(state, fragments, b.index(step), acc, op)
    state.values[op.result] = _narrow(state, acc, element_of(op.acc.type))


class _Fragment:
    """One operand's elements of a k-step: constant offsets from the thread's own view."""

    def __init__(
        self, state: ThreadState, buffer: SSAValue, axis: Axis, sums: Attribute, unsigned: bool
    ) -> None:
        maker = cast(staged.BufferOp, buffer.owner)
        axes = [Axis(), Axis()]
        axes[maker.axis_order[1]] = axis
        shape = tuple(a.cover for a in axes)
        self._layout = Layout(shape, state.threads, tuple(axes))
        self._state, self._axis, self._sums, self._unsigned = state, axis, sums, unsigned
        self._view = state.view(buffer, self._layout)
        self._places = _places(buffer, self._layout, flat=False)
        self._element: Attribute = maker.type_.element_type

    def load(self, step: SSAValue) -> SSAValue:
        """The fragment of one k-step in the type of the sums."""
        b = self._state.b
        whole = b.zero(VectorType(self._element, [len(self._axis.offsets)]))
        part_type = VectorType(self._element, [self._places.width])
        alignment = byte_width(self._element) * self._places.width
        for (_, slot), (_, offset) in self._places.accesses():
            part = b.vector_load(self._view, [step, b.index(offset)], part_type, alignment)
            whole = b.insert_strided_slice(part, whole, [slot])
        return _widen(self._state, whole, self._sums, unsigned=self._unsigned)


def _step(
    state: ThreadState,
    fragments: tuple[_Fragment, _Fragment],
    step: SSAValue,
    acc: SSAValue,
    op: staged.DotOp,
) -> SSAValue:
    rows, columns = (f.load(step) for f in fragments)
    product = state.b.outerproduct(rows, columns, acc)
    product.attributes[ORDER] = StringAttr(op.product_order.data)
    return product.results[0]


def _sum_type(operand: Attribute) -> Attribute:
    """The type in which products are summed: f32 (f64 for f64), i32 (i64 for i64)."""
    if is_float(operand):
        return f64 if operand == f64 else f32
    return i64 if operand == i64 else i32


def _widen(state: ThreadState, value: SSAValue, sums: Attribute, *, unsigned: bool) -> SSAValue:
    if element_of(value.type) == sums:
        return value
    if is_float(sums):
        return state.b.extf(value, sums)
    return state.b.extui(value, sums) if unsigned else state.b.extsi(value, sums)


def _narrow(state: ThreadState, value: SSAValue, wanted: Attribute) -> SSAValue:
    if element_of(value.type) == wanted:
        return value
    return state.b.truncf(value, wanted) if is_float(wanted) else state.b.trunci(value, wanted)
