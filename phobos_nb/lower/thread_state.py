"""What the ops of distribute share: builder, values made so far, coordinates, buffers, strides."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from phobos_nb.contract import Dim, Variant
from phobos_nb.ir.bounds import Limit
from phobos_nb.ir.dialects.arith import CmpiOp
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.fold import constant_value
from phobos_nb.lower import staged
from phobos_nb.lower.chunks import Chunk
from phobos_nb.lower.index_facts import IndexFacts
from phobos_nb.lower.layout_types import byte_width, element, is_tile, layout_of
from phobos_nb.lower.layouts import Axis, Digit, Layout
from phobos_nb.lower.shared_memory import shared_memory
from phobos_nb.lower.thread_builder import ThreadBuilder


@dataclass
class Tensor:
    """A global tensor at thread level: its base memref, one stride per axis, its extents."""

    base: SSAValue
    strides: tuple[SSAValue, ...]
    extents: tuple[SSAValue, ...]
    dims: tuple[Dim, ...]


@dataclass(frozen=True)
class Parts:
    """The scratch of a split kernel: its base, and the elements that one CTA leaves in a part."""

    base: SSAValue
    sums: int


@dataclass
class ThreadState:
    """The state of one lowering from staged tile MLIR to per-thread ops.

    `b` builds at the present place; `blocks` are `ctx.block` on the axes. Values that hold for the
    whole kernel (thread coordinates, buffer views) are built in front of `anchor`, which ends the entry
    prologue.
    """

    kernel: KernelOp
    variant: Variant
    b: ThreadBuilder
    anchor: Operation
    facts: IndexFacts
    tensors: dict[SSAValue, Tensor] = field(default_factory=dict[SSAValue, Tensor])
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    blocks: Sequence[SSAValue] = ()
    shared_bytes: int = 0
    debug: bool = False
    chunk: Chunk | None = None
    parts: Parts | None = None
    _axes: dict[Axis, SSAValue] = field(default_factory=dict[Axis, SSAValue])
    _views: dict[object, SSAValue] = field(default_factory=dict[object, SSAValue])
    _firsts: dict[Layout, SSAValue] = field(default_factory=dict[Layout, SSAValue])

    @property
    def threads(self) -> int:
        """Threads that run the body."""
        return self.kernel.threads.value.data

    def layout(self, value: SSAValue) -> Layout:
        """The layout of a tile, or of the part of it that the present chunk makes."""
        layout = layout_of(value, self.threads)
        return layout if self.chunk is None else self.chunk.restrict(value, layout)

    def type_of(self, value: SSAValue) -> VectorType[Attribute]:
        """The per-thread type of a tile."""
        return VectorType(element(value), self.layout(value).slots)

    def get(self, value: SSAValue) -> SSAValue:
        """The per-thread value of a tile-level value; its part of the present chunk."""
        found = self.values[value]
        chunk = self.chunk
        if chunk is None or not is_tile(value) or value in chunk.members:
            return found
        layout = layout_of(value, self.threads)
        if not chunk.cuts(value, layout):
            return found
        return self.b.extract_rows(found, chunk.start, chunk.stop)

    @contextmanager
    def prologue(self) -> Generator[ThreadBuilder]:
        """Build in front of the anchor for a while."""
        with self.b.at(InsertPoint.before(self.anchor)), self.b.located(self.kernel.location):
            yield self.b

    @cached_property
    def thread(self) -> SSAValue:
        """The thread's number in its CTA."""
        with self.prologue() as b:
            return b.named(b.thread_id("x"), "tid")

    def coordinate(self, axis: Axis) -> SSAValue:
        """The coordinate of the thread's slot with offset 0 on an axis of a layout."""
        key = Axis(axis.digits)
        if key not in self._axes:
            tid = self.thread
            with self.prologue() as b:
                total = b.index(0)
                for digit in joined(axis.digits):
                    value = b.divui(tid, b.index(digit.divisor))
                    if digit.divisor * digit.modulus < self.threads:
                        value = b.remui(value, b.index(digit.modulus))
                    total = b.addi(total, b.muli(value, b.index(digit.multiplier)))
            self._axes[key] = total
        return self._axes[key]

    def first_replica(self, layout: Layout) -> SSAValue | None:
        """Whether this thread is the one of its replicas that stores; None where all are."""
        if layout.replication == 1:
            return None
        if layout not in self._firsts:
            copies = self.coordinate(Axis(layout.replicas))
            with self.prologue() as b:
                self._firsts[layout] = b.cmpi("eq", copies, b.index(0))
        return self._firsts[layout]

    @cached_property
    def memory(self) -> SSAValue:
        """The planned shared buffer, as bytes."""
        with self.prologue() as b:
            return b.named(b.value(shared_memory(self.shared_bytes)), "smem")

    def view(
        self,
        buffer: SSAValue,
        layout: Layout,
        *,
        shape: Sequence[int] | None = None,
        flat: bool = False,
    ) -> SSAValue:
        """A buffer as seen from the thread's own slot 0 under a layout, so that slots are constants.

        `shape` gives another reading of its bytes, `flat` one of rank 1. The view's nominal box may run
        past the buffer; only slots inside it are used.
        """
        maker = cast(staged.BufferOp, buffer.owner)
        physical = tuple(shape or maker.physical)
        order = maker.axis_order if shape is None else tuple(range(len(physical)))
        extents = physical if shape else tuple(maker.type_.get_shape())
        if flat:
            extents = (math.prod(extents),)
        key = (buffer, layout, physical, flat)
        if key not in self._views:
            own = [self.coordinate(layout.axes[axis]) for axis in order]
            with self.prologue() as b:
                place = b.index(0)
                for coordinate, stride in zip(own, dense_strides(physical), strict=True):
                    place = b.addi(place, b.muli(coordinate, b.index(stride)))
                size = byte_width(maker.type_.element_type)
                shift = b.addi(b.muli(place, b.index(size)), b.index(maker.byte_offset))
                type_ = MemRefType(
                    maker.type_.element_type, extents, memory_space=maker.type_.memory_space
                )
                self._views[key] = b.view(self.memory, shift, type_, maker.byte_offset)
        return self._views[key]

    def inside(self, place: SSAValue, limit: Limit) -> SSAValue:
        """0 <= place < limit, in one unsigned comparison.

        It is computed where it is known to fail, too, unless nothing is named there: the simulator
        counts what it leaves out.
        """
        found = self.b.cmpi("ult", place, limit.value)
        if constant_value(found) == 0 and limit.beyond != 0:
            found = self.b.value(CmpiOp(place, limit.value, "ult"))
        limit.mark(found)
        return found

    def in_tile(self, layout: Layout, axis: int, offset: int) -> SSAValue:
        """Whether the slot at an offset along an axis lies in the tile, where some do not."""
        place = self.place(layout, axis, offset)
        return self.b.cmpi("ult", place, self.b.index(layout.shape[axis]))

    def place(self, layout: Layout, axis: int, offset: int) -> SSAValue:
        """The position in the tile of the slot at an offset along an axis."""
        return self.b.addi(self.coordinate(layout.axes[axis]), self.b.index(offset))

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        """The conjunction of two conditions, where None always holds."""
        if a is None or b is None:
            return a if b is None else b
        return self.b.andi(a, b)


def joined(digits: Sequence[Digit]) -> list[Digit]:
    """The same sum with neighbouring digits that continue each other taken as one."""
    found: list[Digit] = []
    for digit in sorted(digits, key=lambda d: d.divisor):
        last = found[-1] if found else None
        follows = last is not None and digit.divisor == last.divisor * last.modulus
        if last is not None and follows and digit.multiplier == last.multiplier * last.modulus:
            found[-1] = Digit(last.divisor, last.modulus * digit.modulus, last.multiplier)
        else:
            found.append(digit)
    return found


def dense_strides(shape: Sequence[int]) -> list[int]:
    """Row-major strides in elements."""
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return strides
