"""Marks on what keeps an access from going past the end: of its tensor, or of the author's `until`.

They change no code. With them the simulator tells elements that an access names past the end, which
count as masked, from slots that name nothing: of threads past the end of a tile, of a slice that a
pipelined loop has no more, of a thread that leaves an access to another.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.arith import AddiOp, MaxSIOp, MinSIOp, SubiOp
from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.fold import constant_value

END = "phobos.end"
"""On a comparison, a vector's mask or an asynchronous copy: what it leaves out is past the end.

Where threads have slots past the end of a tile, that is so up to the end of the tile only: a limit that
is computed says where that is, see `TILE_END`; for others the attribute is the number of elements that
the tile has past the limit, 0 where nothing but the tile ends there.
"""

TILE_END = "phobos.tile_end"
"""On the lesser of two limits: which operand is the end of the tile, whose other slots name nothing."""

SLICES = "phobos.slices"
"""On a loop: how many of the author's slices an iteration takes; the last one may have fewer."""

SLICED = "phobos.sliced"
"""On a load: the axis along which it is of several slices. On what is marked with `END`: it is of such
an axis, and what is past the last slice of the author's loop names nothing."""

WHOLE = "phobos.whole"
"""On a load or store of a tile: axes along which it is part of `:`, which names nothing past the end."""


@dataclass(frozen=True)
class Limit:
    """The position from which on an access moves nothing.

    beyond: elements of the tile past the limit, as far as that is known; None where there is no slot
    past the tile or `TILE_END` is asked. sliced: whether the access is of several slices on this axis.
    """

    value: SSAValue
    beyond: int | None = None
    sliced: bool = False

    def mark(self, value: SSAValue) -> None:
        """Mark the operation that computes a condition, mask or copy by this limit, if there is one."""
        if isinstance(value.owner, Operation) and constant_value(value) is None:
            known = UnitAttr() if self.beyond is None else IntegerAttr(self.beyond, i64)
            value.owner.attributes[END] = known
            if self.sliced:
                value.owner.attributes[SLICED] = UnitAttr()


def mark_tile_end(limit: SSAValue, end: SSAValue) -> bool:
    """Mark a minimum as one of a tensor's end and of `end`, the tile's; False where it is no such."""
    least = limit.owner
    if not isinstance(least, MinSIOp) or end not in least.operands:
        return False
    least.attributes[TILE_END] = IntegerAttr(tuple(least.operands).index(end), i64)
    return True


def is_end(op: Operation) -> bool:
    """Whether what the operation leaves out is past the end."""
    return END in op.attributes


def beyond(op: Operation) -> int | None:
    """The elements of the tile past the limit of a marked operation, where that is known."""
    mark = op.attributes[END]
    return mark.value.data if isinstance(mark, IntegerAttr) else None


def tile_end(limit: SSAValue) -> SSAValue | None:
    """The end of the tile in a computed limit; None where no thread has a slot past it."""
    op = limit.owner
    if isinstance(op, MaxSIOp):
        op = op.lhs.owner
    if not isinstance(op, MinSIOp) or TILE_END not in op.attributes:
        return None
    mark = op.attributes[TILE_END]
    assert isinstance(mark, IntegerAttr)
    return op.operands[mark.value.data]


def sliced_loop(op: Operation) -> tuple[ForOp, int] | None:
    """The loop around a marked operation of several slices, and their number."""
    around = op.parent_op() if SLICED in op.attributes else None
    while around is not None and SLICES not in around.attributes:
        around = around.parent_op()
    if not isinstance(around, ForOp):
        return None
    number = around.attributes[SLICES]
    assert isinstance(number, IntegerAttr)
    return around, number.value.data


def limit_of(count: SSAValue) -> SSAValue:
    """The limit of a count of elements, limit - place."""
    return count.owner.operands[0] if isinstance(count.owner, AddiOp | SubiOp) else count
