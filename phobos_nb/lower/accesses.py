"""What each op of the staged form reads and writes, in whose threads: the input of the barrier pass."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product
from math import prod
from typing import cast

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.dialects import gpu, tile
from phobos_nb.ir.dialects.tile_kernel import tensor_name
from phobos_nb.ir.fold import constant_integer
from phobos_nb.ir.locations import place_of
from phobos_nb.lower import staged
from phobos_nb.lower.distances import Distances, Linear, distances, linear
from phobos_nb.lower.distribute_shared import is_flat
from phobos_nb.lower.layout_types import byte_width, is_tile, layout_of
from phobos_nb.lower.layouts import Axis, Digit, Layout, one_of_stack
from phobos_nb.lower.meetings import (
    Lines,
    Meeting,
    Placed,
    Share,
    example,
    in_one_unit,
    meeting,
    row_major,
)

_BoxOp = tile.LoadOp | tile.StoreOp | tile.AtomicOp
_ElementOp = tile.LoadElementOp | tile.StoreElementOp | tile.AtomicOp | tile.AtomicCasOp

MOST_CASES = 64
"""Distances of two boxes that are looked into; beyond, their threads are taken to meet."""


class Kind(Enum):
    """What an access does; two reads or two atomics never conflict."""

    READ = "read"
    WRITE = "written"
    ATOMIC = "updated atomically"


@dataclass(frozen=True)
class Bytes:
    """A buffer in the shared memory of the CTA: its bytes, and how a tile lies there.

    item: bytes of one element. ring: of a buffer in several copies, which of them is not known.
    """

    start: int
    stop: int
    strides: tuple[int, ...]
    item: int
    ring: bool = False


@dataclass(frozen=True)
class Box:
    """A box of a global tensor: its first position on each axis of the tensor, and its extents there.

    A box without axes is one element, or many, at places that are not known.
    """

    tensor: SSAValue
    starts: tuple[Linear, ...] = ()
    extents: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Access:
    """One access of an op.

    `by_tile` marks tile statements; between per-thread statements the author orders memory. `share`
    tells which elements each thread touches, where that is known; its axes are the buffer's or the
    tensor's. name: what a reader calls the memory.
    """

    op: Operation
    memory: Bytes | Box
    kind: Kind
    name: str
    by_tile: bool = True
    share: Share | None = None

    @property
    def line(self) -> int:
        """The reader's line number, 0 when unknown; the load's of a tile written where it is loaded."""
        op = self.op
        if isinstance(op, staged.WriteOp) and isinstance(op.value.owner, tile.LoadOp):
            load = op.value.owner
            op = load if load.parent is op.parent else op
        place = place_of(op) or place_of(self.op)
        return place.line if place else 0

    def must_be_ordered(self, other: Access) -> bool:
        """Whether the compiler orders the two if they meet anywhere, whoever the threads are."""
        kinds = {self.kind, other.kind}
        ordered = kinds != {Kind.READ} and kinds != {Kind.ATOMIC}
        return ordered and (self.by_tile or other.by_tile) and _one_memory(self.memory, other.memory)


def _one_memory(a: Bytes | Box, b: Bytes | Box) -> bool:
    """Whether two accesses name the same tensor, or ranges of shared bytes that overlap."""
    if isinstance(a, Bytes) and isinstance(b, Bytes):
        return a.start < b.stop and b.start < a.stop
    return isinstance(a, Box) and isinstance(b, Box) and a.tensor is b.tensor


def how_they_meet(earlier: Access, later: Access, crossed: Collection[Operation] = ()) -> Meeting:
    """How far apart the threads of two accesses to one memory are, at most, that touch one element.

    crossed: the loops that began anew in between.
    """
    cases = _cases(earlier, later, crossed)
    if cases is None or _in_rings(earlier, later):
        return Meeting.CTA
    return max((meeting(*case) for case in cases), default=Meeting.NEVER)


def who_meets(
    earlier: Access, later: Access, crossed: Collection[Operation] = ()
) -> tuple[int, int] | None:
    """Two threads, one of each access, that touch a common element; None where that is not known."""
    cases = _cases(earlier, later, crossed)
    return example(*max(cases, key=lambda case: meeting(*case))) if cases else None


def _in_rings(a: Access, b: Access) -> bool:
    """Whether it is open which copy of a buffer is meant."""
    return any(isinstance(x.memory, Bytes) and x.memory.ring for x in (a, b))


def _cases(
    earlier: Access, later: Access, crossed: Collection[Operation]
) -> list[tuple[Placed, Placed]] | None:
    """What both touch, in common units, in each case in which they may meet; None if not known."""
    a, b = earlier.memory, later.memory
    if isinstance(a, Bytes) and isinstance(b, Bytes):
        if earlier.share is None or later.share is None or (a.ring and a.start != b.start):
            return None
        base = min(a.start, b.start)
        first, second = Lines(a.strides, a.start - base), Lines(b.strides, b.start - base)
        first, second = in_one_unit(first, a.item, second, b.item)
        return [((earlier.share, first), (later.share, second))]
    assert isinstance(a, Box)
    assert isinstance(b, Box)
    shifts = [
        None if found is None else found.within(-n, m)
        for found, m, n in zip(_distances(a, b, crossed), a.extents, b.extents, strict=False)
    ]
    if [] in shifts:
        return []
    known = [s for s in shifts if s is not None]
    if earlier.share is None or later.share is None or len(known) < len(shifts):
        return None
    if prod(len(s) for s in known) > MOST_CASES:
        return None
    return [_in_common_box(earlier.share, later.share, case) for case in product(*known)]


def _in_common_box(a: Share, b: Share, shifts: Sequence[int]) -> tuple[Placed, Placed]:
    """Two boxes, the second `shifts` further, as parts of a dense one around both."""
    firsts = [min(0, s) for s in shifts]
    ends = [max(m, s + n) for m, n, s in zip(a.extents, b.extents, shifts, strict=True)]
    strides = row_major([e - f for f, e in zip(firsts, ends, strict=True)])
    at = [
        sum((s - f) * stride for s, f, stride in zip(starts, firsts, strides, strict=True))
        for starts in ([0] * len(shifts), shifts)
    ]
    return (a, Lines(strides, at[0])), (b, Lines(strides, at[1]))


def _distances(a: Box, b: Box, crossed: Collection[Operation]) -> list[Distances | None]:
    return [distances(x, y, crossed) for x, y in zip(a.starts, b.starts, strict=False)]


def accesses(op: Operation, threads: int) -> Iterator[Access]:
    """The accesses of one op that may need ordering."""
    if isinstance(op, staged.WriteOp):
        yield _tile(op, op.buffer, Kind.WRITE, op.value, threads)
    elif isinstance(op, staged.ReadOp):
        yield _tile(op, op.buffer, Kind.READ, op.result, threads)
    elif isinstance(op, staged.DotOp):
        rows, columns = one_of_stack(layout_of(op.acc, threads), op.groups.value.data).axes
        yield _operand(op, op.a, rows, threads)
        yield _operand(op, op.b, columns, threads)
    elif isinstance(op, tile.LoadOp):
        yield _box(op, op.source, Kind.READ, op.result, op.sliced, threads)
    elif isinstance(op, tile.StoreOp):
        yield _box(op, op.destination, Kind.WRITE, op.value, op.sliced, threads)
    elif isinstance(op, tile.GatherOp):
        yield Access(op, Box(op.table), Kind.READ, _name(op.table))
    elif isinstance(op, tile.AtomicOp) and is_tile(op.value):
        rank = len(op.indices)
        sliced = range(rank - len(layout_of(op.value, threads).shape), rank)
        yield _box(op, op.destination, Kind.ATOMIC, op.value, sliced, threads)
    elif isinstance(op, tile.AtomicOp | tile.AtomicCasOp | tile.StoreElementOp):
        kind = Kind.WRITE if isinstance(op, tile.StoreElementOp) else Kind.ATOMIC
        yield _element(op, op.destination, kind, threads)
    elif isinstance(op, tile.LoadElementOp):
        yield _element(op, op.source, Kind.READ, threads)


def _tile(op: Operation, buffer: SSAValue, kind: Kind, value: SSAValue, threads: int) -> Access:
    """A tile written to a buffer, or read from it, perhaps reshaped."""
    layout, maker = layout_of(value, threads), cast(staged.BufferOp, buffer.owner)
    flat = kind is Kind.READ and is_flat(buffer, layout)
    order = tuple(range(len(layout.shape))) if flat else maker.axis_order
    physical = layout.shape if flat else maker.physical
    share = Share(layout, layout.axes, _by_axis(physical, order), once=kind is Kind.WRITE)
    return _shared(op, maker, kind, share, row_major(physical, order))


def _operand(op: staged.DotOp, buffer: SSAValue, own: Axis, threads: int) -> Access:
    """Each thread reads the rows or columns of its sums, in the whole depth of its group."""
    maker = cast(staged.BufferOp, buffer.owner)
    groups, steps = op.groups.value.data, op.depth.value.data
    group = (Digit(threads // groups, groups, steps),) if groups > 1 else ()
    depth = Axis(group, tuple(range(steps)))
    order, physical = maker.axis_order, maker.physical
    axes = tuple(own if axis == order[-1] else depth for axis in range(len(order)))
    share = Share(layout_of(op.acc, threads), axes, _by_axis(physical, order))
    return _shared(op, maker, Kind.READ, share, row_major(physical, order))


def _by_axis(physical: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """The extents of a buffer, those of the tile axes in `order`, by tile axis."""
    extents = dict(zip(order, physical, strict=True))
    return tuple(extents[axis] for axis in range(len(order)))


def _shared(
    op: Operation, maker: staged.BufferOp, kind: Kind, share: Share, strides: tuple[int, ...]
) -> Access:
    item = byte_width(maker.type_.element_type)
    start = maker.byte_offset
    stop = start + item * prod(maker.type_.get_shape())
    memory = Bytes(start, stop, strides, item, maker.stages > 1)
    return Access(op, memory, kind, maker.purpose.data, share=share)


def _box(
    op: _BoxOp, tensor: SSAValue, kind: Kind, value: SSAValue, sliced: Sequence[int], threads: int
) -> Access:
    """A box of a tensor; an axis that is a point has one position, which all threads share."""
    layout = layout_of(value, threads)
    held = dict(zip(sliced, zip(layout.axes, layout.shape, strict=True), strict=True))
    pairs = [held.get(axis, (Axis(), 1)) for axis in range(len(op.indices))]
    axes, extents = tuple(a for a, _ in pairs), tuple(n for _, n in pairs)
    share = Share(layout, axes, extents, once=kind is not Kind.READ)
    box = Box(tensor, tuple(linear(v) for v in op.indices), extents)
    return Access(op, box, kind, _name(tensor), share=share)


def _element(op: _ElementOp, tensor: SSAValue, kind: Kind, threads: int) -> Access:
    """An element for each thread, at an index that may depend on the thread's number."""
    split = [_by_thread(linear(v), threads) for v in op.indices]
    axes, extents = tuple(axis for axis, _, _ in split), tuple(n for _, n, _ in split)
    nobody = Layout((), threads, ())
    once = isinstance(op, tile.StoreElementOp) and op.once is not None
    share = Share(nobody, axes, extents, once=once)
    box = Box(tensor, tuple(rest for _, _, rest in split), extents)
    return Access(op, box, kind, _name(tensor), by_tile=False, share=share)


def _by_thread(index: Linear, threads: int) -> tuple[Axis, int, Linear]:
    """The part of an index that follows from the thread's number, how many it takes, and the rest."""
    known = {v: digit for v in index.terms if (digit := _digit(v, threads))}
    found, rest = index.split(known)
    digits = tuple(Digit(*known[value], times) for value, times in found.items())
    reach = sum((d.modulus - 1) * abs(d.multiplier) for d in digits)
    least = sum((d.modulus - 1) * d.multiplier for d in digits if d.multiplier < 0)
    return Axis(digits, (-least,)), reach + 1, rest.plus(Linear(least))


def _digit(value: SSAValue, threads: int) -> tuple[int, int] | None:
    """The divisor and the modulus of a digit of the thread's number."""
    op = value.owner
    if isinstance(op, gpu.ThreadIdOp):
        return (1, threads) if op.dimension.data is gpu.DimensionEnum.X else None
    if not isinstance(op, arith.DivUIOp | arith.RemUIOp) or not isinstance(op.lhs.owner, gpu.ThreadIdOp):
        return None
    by = constant_integer(op.rhs)
    if by is None or by <= 0:
        return None
    return (by, -(-threads // by)) if isinstance(op, arith.DivUIOp) else (1, by)


def _name(tensor: SSAValue) -> str:
    return tensor_name(tensor) or "a tensor"
