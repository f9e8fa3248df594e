"""Boxes of global tensors per thread: which addresses a slot has, under which masks, and the accesses.

Slots of the innermost axis that lie in a run of unit stride become one vector access; a condition on
outer axes becomes a branch around it, one on the innermost a mask of the run.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial, reduce

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, VectorType
from xdsl.ir import Attribute, SSAValue

from phobos_nb.ir.bounds import SLICED, WHOLE, Limit, mark_tile_end
from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.tile_kernel import tensor_name
from phobos_nb.ir.fold import constant_value
from phobos_nb.lower.layout_types import byte_width
from phobos_nb.lower.layouts import Layout
from phobos_nb.lower.thread_builder import ThreadBuilder
from phobos_nb.lower.thread_state import Tensor, ThreadState

VECTOR_BYTES = 16

AT_ONCE = "phobos.at_once"
"""Attribute of a `tile.load` whose loads shall be in flight together, see `load_tile`."""


@dataclass(frozen=True)
class Run:
    """One access: the first slot per axis, its element address, and what must hold for it.

    condition: None where always inside. count: how many of the run's elements are inside, None for all.
    limit: where the elements end that `count` counts.
    """

    slot: tuple[int, ...]
    address: SSAValue
    condition: SSAValue | None
    count: SSAValue | None
    limit: Limit | None = None


class Box:
    """The runs of one `tile.load` or `tile.store` in one thread."""

    def __init__(self, state: ThreadState, op: tile.LoadOp | tile.StoreOp) -> None:
        self._state = state
        self._op = op
        value = op.result if isinstance(op, tile.LoadOp) else op.value
        source = op.source if isinstance(op, tile.LoadOp) else op.destination
        self.tensor: Tensor = state.tensors[source]
        self.layout: Layout = state.layout(value)
        self.element: Attribute = state.type_of(value).element_type
        thin = tensor_name(source) in state.variant.thin
        self._inner = not thin and op.sliced[-1] == len(op.indices) - 1 and state.variant.unit_stride
        self._needs = [self._checks(axis) for axis in range(len(op.indices))]
        self.width = self._width()
        self.alignment = self._alignment()

    def narrow(self, width: int) -> None:
        """Use accesses of `width` elements."""
        self.width = width
        self.alignment = min(self.alignment, byte_width(self.element) * width)

    def whole(self) -> SSAValue | None:
        """Whether the thread's slots all lie inside, so that none needs a mask; None where always."""
        b, found = self._state.b, None
        for axis in range(len(self._op.indices)):
            if not self._needs[axis]:
                continue
            if axis not in self._op.sliced:
                found = self._state.both(found, self._inside(axis))
                continue
            own = self._op.sliced.index(axis)
            first = b.addi(self._op_index(axis), self._state.coordinate(self.layout.axes[own]))
            last = b.addi(first, b.index(self.layout.axes[own].offsets[-1]))
            limit = self._limit(axis, own).value
            inside = b.andi(b.cmpi("sge", first, b.index(0)), b.cmpi("slt", last, limit))
            found = self._state.both(found, inside)
        return found

    def unmasked(self) -> Box:
        """The same box without masks, for where `whole` holds."""
        box = copy(self)
        box._needs = [False] * len(self._needs)
        return box

    def runs(self, condition: SSAValue | None, base: SSAValue | None = None) -> Iterator[Run]:
        """The accesses in slot order, all under `condition` as well; addresses count from `base`."""
        for axis in range(len(self._op.indices)):
            if axis not in self._op.sliced and self._needs[axis]:
                condition = self._state.both(condition, self._inside(axis))
        outer = [self._slots(axis, 1) for axis in range(len(self.layout.axes) - 1)]
        inner = self._slots(len(self.layout.axes) - 1, self.width)
        base = self.base_address() if base is None else base
        for row in itertools.product(*outer):
            row_condition, row_address = condition, base
            for slot in row:
                row_condition = self._state.both(row_condition, slot.condition)
                row_address = self._state.b.addi(row_address, slot.address)
            for slot in inner:
                yield Run(
                    (*(s.slot[0] for s in row), slot.slot[0]),
                    self._state.b.addi(row_address, slot.address),
                    self._state.both(row_condition, slot.condition),
                    slot.count,
                    slot.limit,
                )

    def _op_index(self, axis: int) -> SSAValue:
        return self._state.get(self._op.indices[axis])

    def _checks(self, axis: int) -> bool:
        """Whether positions on a tensor axis must be compared with its end."""
        if axis not in self._op.sliced:
            return self._op.masked[axis]
        own = self._op.sliced.index(axis)
        stopped = axis in self._op.stop_axes.get_values()
        return self._op.masked[axis] or stopped or self.layout.overhangs(own)

    def _width(self) -> int:
        """Elements of one access: the run of the layout, up to 16 bytes, where a mask can express it."""
        last = len(self._op.indices) - 1
        if not self._inner:
            return 1
        if self._needs[last] and not self._state.facts.not_negative(self._op.indices[last]):
            return 1
        return min(self.layout.axes[-1].run, max(1, VECTOR_BYTES // byte_width(self.element)))

    def _alignment(self) -> int:
        """Bytes that every access's address is a multiple of."""
        size = byte_width(self.element)
        multiple = self._state.facts.multiple(self._op.indices[-1])
        aligned = self._state.variant.aligned and self._inner and multiple % self.width == 0
        return size * self.width if aligned else size

    def base_address(self) -> SSAValue:
        """The address of the thread's slot with all offsets 0."""
        b = self._state.b
        total = self._state.b.index(0)
        for axis, stride in enumerate(self.tensor.strides):
            total = b.addi(total, b.muli(self._op_index(axis), stride))
        for own, axis in enumerate(self._op.sliced):
            place = self._state.coordinate(self.layout.axes[own])
            total = b.addi(total, b.muli(place, self.tensor.strides[axis]))
        return total

    def _slots(self, own: int, width: int) -> list[Run]:
        """The runs along one tile axis: address relative to the base, conditions."""
        b, axis = self._state.b, self._op.sliced[own]
        first = b.addi(self._op_index(axis), self._state.coordinate(self.layout.axes[own]))
        limit = self._limit(axis, own) if self._needs[axis] else None
        found: list[Run] = []
        for slot in range(0, len(self.layout.axes[own].offsets), width):
            offset = self._state.b.index(self.layout.axes[own].offsets[slot])
            address = b.muli(offset, self.tensor.strides[axis])
            condition = count = None
            if limit is not None:
                place = b.addi(first, offset)
                if width == 1:
                    condition = self._state.inside(place, limit)
                else:
                    count = b.subi(limit.value, place)
            found.append(Run((slot,), address, condition, count, limit))
        return found

    def _inside(self, axis: int) -> SSAValue:
        """Whether the position on an axis that is not sliced is inside."""
        return self._state.inside(self._op_index(axis), Limit(self.tensor.extents[axis]))

    def _limit(self, axis: int, own: int) -> Limit:
        """The end of the box on an axis: of the tensor, of the author's `until`, of the tile."""
        b, extent = self._state.b, self.tensor.extents[axis]
        stops = dict(zip(self._op.stop_axes.get_values(), self._op.stops, strict=True))
        ends = [extent] if self._op.masked[axis] else []
        ends += [self._state.get(stops[axis])] if axis in stops else []
        limits, tile_end = list(ends), None
        if self.layout.overhangs(own):
            tile_end = b.addi(self._op_index(axis), b.index(self.layout.shape[own]))
            limits.append(tile_end)
        least = reduce(b.minsi, limits)
        limit = least if limits == [extent] else b.maxsi(least, b.index(0))
        beyond = _beyond(least, limit, tile_end) if ends and not self._whole(axis) else 0
        return Limit(limit, beyond, self._sliced(axis))

    def _whole(self, axis: int) -> bool:
        """Whether the access is part of a whole extent, so that it names nothing past the end."""
        whole = self._op.attributes.get(WHOLE)
        return isinstance(whole, DenseArrayBase) and axis in whole.get_values()

    def _sliced(self, axis: int) -> bool:
        """Whether the access is of several of the author's slices on an axis."""
        along = self._op.attributes.get(SLICED)
        return isinstance(along, IntegerAttr) and along.value.data == axis


def _beyond(least: SSAValue, limit: SSAValue, tile_end: SSAValue | None) -> int | None:
    """Elements of the tile past a known limit; where it is computed, its end is marked instead."""
    if tile_end is None or mark_tile_end(least, tile_end):
        return None
    last, known = constant_value(tile_end), constant_value(limit)
    return None if last is None or known is None else int(last) - int(known)


def distribute_load(state: ThreadState, op: tile.LoadOp) -> None:
    """One thread's part of `tile.load`."""
    state.values[op.result] = load_tile(state, op)


def load_tile(state: ThreadState, op: tile.LoadOp) -> SSAValue:
    """The thread's vector of a box at the present position.

    With `AT_ONCE` the masks are asked about once: one branch, behind which all loads go out together.
    """
    box = Box(state, op)
    whole = box.whole() if AT_ONCE in op.attributes else None
    if whole is None:
        return _load_box(state, op, box)
    branch = state.b.if_(whole, [state.type_of(op.result)], otherwise=True)
    for region, held in zip(branch.regions, (box.unmasked(), box), strict=True):
        with state.b.inside(region.block):
            state.b.yield_([_load_box(state, op, held)])
    return branch.results[0]


def _load_box(state: ThreadState, op: tile.LoadOp, box: Box) -> SSAValue:
    b = state.b
    zero = b.zero(box.element)
    pad = zero if op.pad is None else state.get(op.pad)
    if box.width == 1:
        scalars = [_load_scalar(state, box, run, pad) for run in box.runs(None)]
        return b.from_elements(scalars, state.type_of(op.result))
    whole = b.splat(pad, state.type_of(op.result))
    filler = b.splat(pad, VectorType(box.element, [box.width]))
    for run in box.runs(None):
        whole = b.insert_strided_slice(_load_run(state, box, run, filler), whole, run.slot)
    return whole


def _load_scalar(state: ThreadState, box: Box, run: Run, pad: SSAValue) -> SSAValue:
    b = state.b
    return b.choose(run.condition, lambda: b.load(box.tensor.base, [run.address]), lambda: pad)


def _load_run(state: ThreadState, box: Box, run: Run, filler: SSAValue) -> SSAValue:
    b = state.b
    type_ = VectorType(box.element, [box.width])

    def access() -> SSAValue:
        if run.count is None:
            return b.vector_load(box.tensor.base, [run.address], type_, box.alignment)
        mask = _mask(b, run, box.width)
        return b.maskedload(box.tensor.base, [run.address], mask, filler, box.alignment)

    return b.choose(run.condition, access, lambda: filler)


def distribute_store(state: ThreadState, op: tile.StoreOp) -> None:
    """One thread's part of `tile.store`; the first of replicas stores."""
    box = Box(state, op)
    value = state.get(op.value)
    runs = list(box.runs(state.first_replica(box.layout)))
    if box.width > 1:
        for run in runs:
            state.b.when(run.condition, partial(_store_run, state.b, box, run, value))
        return
    for run, scalar in zip(runs, state.b.to_elements(value), strict=True):
        state.b.when(run.condition, partial(state.b.store, scalar, box.tensor.base, [run.address]))


def _store_run(b: ThreadBuilder, box: Box, run: Run, value: SSAValue) -> None:
    part = b.extract_run(value, run.slot, box.width)
    if run.count is None:
        b.vector_store(part, box.tensor.base, [run.address], box.alignment)
    else:
        mask = _mask(b, run, box.width)
        b.maskedstore(part, box.tensor.base, [run.address], mask, box.alignment)


def _mask(b: ThreadBuilder, run: Run, width: int) -> SSAValue:
    assert run.count is not None
    assert run.limit is not None
    mask = b.create_mask(run.count, width)
    run.limit.mark(mask)
    return mask
