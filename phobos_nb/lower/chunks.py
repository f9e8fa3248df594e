"""Elementwise work on the way to a store, done a few rows of slots at a time.

A tile statement such as `C[..] = alpha * acc + beta * c` would hold the whole of `c` beside the whole of
`acc`: 256 registers for a 16 x 8 thread tile. What only feeds the store is therefore put off until the
store, and emitted in chunks along the first axis. Loads take part where nothing writes between.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from xdsl.ir import Block, Operation, SSAValue

from phobos_nb.ir.dialects import tile
from phobos_nb.lower.finish import is_pure
from phobos_nb.lower.layout_classes import is_elementwise, is_free
from phobos_nb.lower.layout_types import is_tile, layout_of, shape
from phobos_nb.lower.layouts import Layout

LARGEST = 32
"""Elements of one chunk per thread."""

WORTH = 64
"""Elements per thread from which on a store is done in chunks."""


@dataclass(frozen=True)
class Chunk:
    """Slots `start` to `stop` of the `total` along the first axis of a store's tile of some rank.

    `members` are the values that are made for this chunk alone, `stored` is the store's value.
    """

    members: frozenset[SSAValue]
    stored: SSAValue
    rank: int
    start: int
    stop: int
    total: int

    def restrict(self, value: SSAValue, layout: Layout) -> Layout:
        """The layout of the part of a value that the chunk makes or stores."""
        own = value in self.members or value is self.stored
        if not own or not self.cuts(value, layout):
            return layout
        first = replace(layout.axes[0], offsets=layout.axes[0].offsets[self.start : self.stop])
        return replace(layout, axes=(first, *layout.axes[1:]))

    def cuts(self, value: SSAValue, layout: Layout) -> bool:
        """Whether the first axis of a value is the one that is cut."""
        return len(shape(value)) == self.rank and len(layout.axes[0].offsets) == self.total > 1


def chunks_of(store: tile.StoreOp, members: frozenset[SSAValue], threads: int) -> Iterator[Chunk]:
    """The chunks of a store whose value is large; whole runs of slots stay together."""
    layout = layout_of(store.value, threads)
    total = len(layout.axes[0].offsets)
    others = math.prod(layout.slots[1:])
    unit = layout.axes[0].run
    size = max(1, LARGEST // max(1, others * unit)) * unit
    for start in range(0, total, size):
        yield Chunk(members, store.value, len(layout.shape), start, min(total, start + size), total)


def deferred(block: Block, threads: int) -> dict[Operation, frozenset[SSAValue]]:
    """For each store done in chunks, the values put off until it."""
    return {
        op: frozenset(_feeders(op))
        for op in block.ops
        if isinstance(op, tile.StoreOp)
        and math.prod(layout_of(op.value, threads).slots) >= WORTH
        and len(layout_of(op.value, threads).axes[0].offsets) > 1
    }


def _feeders(store: tile.StoreOp) -> list[SSAValue]:
    """The values of the store's block that feed it alone and may be made late, inputs last."""
    found: list[SSAValue] = []
    members: set[Operation] = {store}
    waiting = [store.value]
    while waiting:
        value = waiting.pop()
        op = value.owner
        if not isinstance(op, Operation) or op.parent is not store.parent or op in members:
            continue
        if all(use.operation in members for use in value.uses) and _may_wait(op, store):
            members.add(op)
            found.append(value)
            waiting += [v for v in op.operands if is_tile(v)]
    return found


def _may_wait(op: Operation, store: tile.StoreOp) -> bool:
    if isinstance(op, tile.LoadOp):
        return _quiet_between(op, store)
    return is_elementwise(op) or is_free(op) or isinstance(op, tile.BroadcastOp)


def _quiet_between(first: Operation, last: Operation) -> bool:
    """Whether nothing between two ops of a block could write memory or order it."""
    op = first.next_op
    while op is not None and op is not last:
        if not (is_pure(op) or isinstance(op, tile.LoadOp | tile.SplatOp | tile.BroadcastOp)):
            return False
        op = op.next_op
    return op is last
