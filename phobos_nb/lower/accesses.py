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
from phobos_nb.lower.layout_types import byte_width, is_tile, layout_of


class Kind(Enum):
    """What an access does; two reads or two atomics never conflict."""

    READ = "read"
    WRITE = "written"
    ATOMIC = "updated atomically"


@dataclass(frozen=True)
class Memory:
    """A global tensor, or a range of bytes of the shared buffer."""

    tensor: SSAValue | None
    start: int = 0
    stop: int = 0

    def overlaps(self, other: Memory) -> bool:
        """Whether both name a common element; distinct tensor parameters are taken as distinct."""
        if self.tensor is not None or other.tensor is not None:
            return self.tensor is other.tensor
        return self.start < other.stop and other.start < self.stop


@dataclass(frozen=True)
class Access:
    """One access. `owners` is equal for accesses in which every thread touches the same elements.

    `by_tile` marks tile statements; between per-thread statements the author orders memory.
    """

    op: Operation
    memory: Memory
    kind: Kind
    name: str
    owners: object = None
    by_tile: bool = True

    @property
    def line(self) -> int:
        """The reader's line number, 0 when unknown."""
        place = place_of(self.op)
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
        yield _shared(op, op.buffer, Kind.WRITE, _owners(op.value, threads))
    elif isinstance(op, staged.ReadOp):
        yield _shared(op, op.buffer, Kind.READ, _owners(op.result, threads))
    elif isinstance(op, staged.DotOp):
        yield _shared(op, op.a, Kind.READ, None)
        yield _shared(op, op.b, Kind.READ, None)
    elif isinstance(op, tile.LoadOp):
        yield _global(op, op.source, Kind.READ, _box_owners(op, op.result, threads))
    elif isinstance(op, tile.StoreOp):
        yield _global(op, op.destination, Kind.WRITE, _box_owners(op, op.value, threads))
    elif isinstance(op, tile.GatherOp):
        yield _global(op, op.table, Kind.READ, None)
    elif isinstance(op, tile.AtomicOp | tile.AtomicCasOp):
        yield _global(op, op.destination, Kind.ATOMIC, None, by_tile=is_tile(op.value))
    elif isinstance(op, tile.LoadElementOp):
        yield _global(op, op.source, Kind.READ, None, by_tile=False)
    elif isinstance(op, tile.StoreElementOp):
        yield _global(op, op.destination, Kind.WRITE, None, by_tile=False)


def _shared(op: Operation, buffer: SSAValue, kind: Kind, owners: object) -> Access:
    maker = cast(staged.BufferOp, buffer.owner)
    size = byte_width(maker.type_.element_type)
    for extent in maker.type_.get_shape():
        size *= extent
    start = maker.byte_offset
    return Access(op, Memory(None, start, start + size), kind, maker.purpose.data, owners)


def _global(
    op: Operation, tensor: SSAValue, kind: Kind, owners: object, *, by_tile: bool = True
) -> Access:
    return Access(op, Memory(tensor), kind, tensor.name_hint or "a tensor", owners, by_tile)


def _owners(value: SSAValue, threads: int) -> object:
    """The layout, unless copies are held: then one thread writes for several that read."""
    layout = layout_of(value, threads)
    return layout.axes if layout.replication == 1 else None


def _box_owners(op: tile.LoadOp | tile.StoreOp, value: SSAValue, threads: int) -> object:
    axes = _owners(value, threads)
    return None if axes is None else (axes, op.sliced, tuple(op.indices))
