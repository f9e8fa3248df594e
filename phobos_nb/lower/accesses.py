"""What each op of the staged form reads and writes, in whose threads: the input of the barrier pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import cast

from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.dialects import tile
from phobos_nb.ir.locations import place_of
from phobos_nb.lower import staged
from phobos_nb.lower.index_facts import constant_value
from phobos_nb.lower.layout_types import byte_width, is_tile, layout_of, shape
from phobos_nb.lower.layouts import WARP, Axis, Layout


class Kind(Enum):
    """What an access does; two reads or two atomics never conflict."""

    READ = "read"
    WRITE = "written"
    ATOMIC = "updated atomically"


@dataclass(frozen=True)
class Memory:
    """A box of a global tensor, or a range of bytes of the shared buffer.

    box: first and one past the last position per axis, None where a position is not constant; empty
    where nothing is known.
    """

    tensor: SSAValue | None
    start: int = 0
    stop: int = 0
    box: tuple[tuple[int, int] | None, ...] = ()

    def overlaps(self, other: Memory) -> bool:
        """Whether both may name a common element; distinct tensor parameters are taken as distinct."""
        if self.tensor is not None or other.tensor is not None:
            return self.tensor is other.tensor and not self._apart(other)
        return self.start < other.stop and other.start < self.stop

    def _apart(self, other: Memory) -> bool:
        """Whether the boxes have no common position on some axis."""
        pairs = [(a, b) for a, b in zip(self.box, other.box, strict=False) if a and b]
        return any(a[1] <= b[0] or b[1] <= a[0] for a, b in pairs)


@dataclass(frozen=True)
class Share:
    """What threads touch of a tile: per axis the layout's, or None where each touches all of it.

    once: of several threads that hold the same elements, only the first touches them.
    """

    layout: Layout
    axes: tuple[Axis | None, ...]
    once: bool = False

    def meets(self, thread: int, other: Share, another: int) -> bool:
        """Whether a thread touches an element that a thread of another access touches too."""
        if len(self.axes) != len(other.axes) or not (self._acts(thread) and other._acts(another)):
            return False
        pairs = zip(self.axes, other.axes, strict=True)
        return all(_common(a, thread, b, another) for a, b in pairs)

    def _acts(self, thread: int) -> bool:
        return not self.once or self.layout.is_first(thread)


def _common(a: Axis | None, thread: int, b: Axis | None, another: int) -> bool:
    if a is None or b is None:
        return True
    first, second = a.base(thread), b.base(another)
    return not {first + o for o in a.offsets}.isdisjoint(second + o for o in b.offsets)


def example(earlier: Access, access: Access) -> tuple[int, int] | None:
    """Two threads, one of each access, that touch a common element; None where that is not known.

    Of two warps if possible, the first of the first two warps.
    """
    a, b = earlier.share, access.share
    if a is None or b is None or earlier.name != access.name:
        return None
    threads = range(a.layout.threads)
    pairs = [(i, j) for i in threads[: 2 * WARP] for j in threads if i != j]
    pairs.sort(key=lambda pair: pair[0] // WARP == pair[1] // WARP)
    return next(((i, j) for i, j in pairs if a.meets(i, b, j)), None)


@dataclass(frozen=True)
class Access:
    """One access. `owners` is equal for accesses in which every thread touches the same elements.

    `by_tile` marks tile statements; between per-thread statements the author orders memory. `share`
    tells which elements of a tile in shared memory each thread touches, where that is known.
    """

    op: Operation
    memory: Memory
    kind: Kind
    name: str
    owners: object = None
    by_tile: bool = True
    share: Share | None = None

    @property
    def line(self) -> int:
        """The reader's line number, 0 when unknown; of a tile that is written as loaded, the load's."""
        op = self.op
        if isinstance(op, staged.WriteOp) and isinstance(op.value.owner, tile.LoadOp):
            op = op.value.owner
        place = place_of(op) or place_of(self.op)
        return place.line if place else 0

    def conflicts(self, other: Access) -> bool:
        """Whether the order of both matters and the compiler must see to it, whoever the threads are."""
        kinds = {self.kind, other.kind}
        ordered = kinds != {Kind.READ} and kinds != {Kind.ATOMIC}
        return ordered and (self.by_tile or other.by_tile) and self.memory.overlaps(other.memory)

    def same_thread(self, other: Access) -> bool:
        """Whether every element is touched by one and the same thread in both."""
        return self.owners is not None and self.owners == other.owners and self.name == other.name


def accesses(op: Operation, threads: int) -> Iterator[Access]:
    """The accesses of one op that may need ordering."""
    if isinstance(op, staged.WriteOp):
        yield _whole_tile(op, op.buffer, Kind.WRITE, op.value, threads)
    elif isinstance(op, staged.ReadOp):
        yield _whole_tile(op, op.buffer, Kind.READ, op.result, threads)
    elif isinstance(op, staged.DotOp):
        sums = layout_of(op.acc, threads)
        yield _shared(op, op.a, Kind.READ, None, _operand_share(op.a, sums, sums.axes[0]))
        yield _shared(op, op.b, Kind.READ, None, _operand_share(op.b, sums, sums.axes[1]))
    elif isinstance(op, tile.LoadOp):
        box = _box(op, op.result)
        yield _global(op, op.source, Kind.READ, _box_owners(op, op.result, threads), box=box)
    elif isinstance(op, tile.StoreOp):
        box = _box(op, op.value)
        yield _global(op, op.destination, Kind.WRITE, _box_owners(op, op.value, threads), box=box)
    elif isinstance(op, tile.GatherOp):
        yield _global(op, op.table, Kind.READ, None)
    elif isinstance(op, tile.AtomicOp | tile.AtomicCasOp):
        yield _global(op, op.destination, Kind.ATOMIC, None, by_tile=is_tile(op.value))
    elif isinstance(op, tile.LoadElementOp):
        yield _global(op, op.source, Kind.READ, None, by_tile=False)
    elif isinstance(op, tile.StoreElementOp):
        yield _global(op, op.destination, Kind.WRITE, None, by_tile=False)


def _whole_tile(op: Operation, buffer: SSAValue, kind: Kind, value: SSAValue, threads: int) -> Access:
    """A tile of the shape that the buffer is for, or one that is reshaped on the way."""
    layout = layout_of(value, threads)
    share = Share(layout, layout.axes, once=kind is Kind.WRITE)
    writes = [u.operation for u in buffer.uses if isinstance(u.operation, staged.WriteOp)]
    reshaped = any(shape(write.value) != layout.shape for write in writes)
    return _shared(op, buffer, kind, _owners(value, threads), None if reshaped else share)


def _operand_share(buffer: SSAValue, sums: Layout, own: Axis) -> Share:
    """Of an operand each thread reads the rows or columns of its sums, in the whole depth."""
    order = cast(staged.BufferOp, buffer.owner).axis_order
    return Share(sums, tuple(own if axis == order[-1] else None for axis in range(len(order))))


def _shared(op: Operation, buffer: SSAValue, kind: Kind, owners: object, share: Share | None) -> Access:
    maker = cast(staged.BufferOp, buffer.owner)
    size = byte_width(maker.type_.element_type)
    for extent in maker.type_.get_shape():
        size *= extent
    start = maker.byte_offset
    return Access(op, Memory(None, start, start + size), kind, maker.purpose.data, owners, share=share)


def _global(
    op: Operation,
    tensor: SSAValue,
    kind: Kind,
    owners: object,
    *,
    by_tile: bool = True,
    box: tuple[tuple[int, int] | None, ...] = (),
) -> Access:
    name = tensor.name_hint or "a tensor"
    return Access(op, Memory(tensor, box=box), kind, name, owners, by_tile)


def _box(op: tile.LoadOp | tile.StoreOp, value: SSAValue) -> tuple[tuple[int, int] | None, ...]:
    """The positions that the box takes on each axis of its tensor, where they are constant."""
    lengths = dict(zip(op.sliced, shape(value), strict=True))
    starts = [constant_value(index) for index in op.indices]
    return tuple(
        None if start is None else (start, start + lengths.get(axis, 1))
        for axis, start in enumerate(starts)
    )


def _owners(value: SSAValue, threads: int) -> object:
    """The layout, unless copies are held: then one thread writes for several that read."""
    layout = layout_of(value, threads)
    return layout.axes if layout.replication == 1 else None


def _box_owners(op: tile.LoadOp | tile.StoreOp, value: SSAValue, threads: int) -> object:
    axes = _owners(value, threads)
    return None if axes is None else (axes, op.sliced, tuple(op.indices))
