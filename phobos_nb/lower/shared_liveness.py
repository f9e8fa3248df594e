"""Finds the live range of every shared buffer of a staged kernel, and writes the plan back."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation

from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.locations import place_of
from phobos_nb.lower import staged
from phobos_nb.lower.layout_types import byte_width
from phobos_nb.lower.plan_shared_memory import LiveBuffer, SharedPlan, place


def plan_kernel(kernel: KernelOp) -> SharedPlan:
    """Plan all buffers of the kernel and give each op its byte offset."""
    positions = _positions(kernel)
    end = len(positions)
    makers = [op for op in kernel.body.walk() if isinstance(op, staged.BufferOp | tile.AllocSharedOp)]
    plan = place([_live(op, positions, end) for op in makers])
    for op, placed in zip(makers, plan.buffers, strict=True):
        offset = IntegerAttr(placed.offset, i64)
        if isinstance(op, staged.BufferOp):
            op.offset = offset
        else:
            op.attributes[staged.OFFSET] = offset
    return plan


def _positions(kernel: KernelOp) -> dict[Operation, int]:
    return {op: i for i, op in enumerate(kernel.body.walk())}


def _live(
    op: staged.BufferOp | tile.AllocSharedOp, positions: dict[Operation, int], end: int
) -> LiveBuffer:
    """An author's array lives throughout; a buffer from its making to its last use."""
    type_ = op.type_ if isinstance(op, staged.BufferOp) else op.result.type
    at = place_of(op)
    own = isinstance(op, staged.BufferOp)
    return LiveBuffer(
        name=op.purpose.data if isinstance(op, staged.BufferOp) else op.array.data,
        dtype=str(type_.element_type),
        shape=tuple(type_.get_shape()),
        itemsize=byte_width(type_.element_type),
        first=positions[op] if own else 0,
        last=max(_end(op, u.operation, positions) for u in op.result.uses) if own else end,
        line=at.line if at else 0,
        stages=op.stages if isinstance(op, staged.BufferOp) else 1,
        order=op.axis_order if isinstance(op, staged.BufferOp) else (),
    )


def _end(op: Operation, use: Operation, positions: dict[Operation, int]) -> int:
    """The position of a use, or the end of the loop around it that the buffer stands outside of."""
    found = positions[use]
    around = use
    while around.parent_block() is not op.parent_block():
        parent = around.parent_op()
        assert parent is not None
        around = parent
        if isinstance(around, scf.ForOp | scf.WhileOp):
            found = max(positions[inner] for inner in around.walk())
    return found
