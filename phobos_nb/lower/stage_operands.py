"""Decides what lives in shared memory, and writes every trip through it as `staged` ops.

Operands of a dot are written k-major into buffers of their own; a convert or a reshape goes through one;
a reduction that leaves the warp exchanges its parts through one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.locations import copy_location
from phobos_nb.lower import staged
from phobos_nb.lower.gemm_plan import GemmPlan
from phobos_nb.lower.layout_types import element, layout_of, shape, tile_type
from phobos_nb.lower.layouts import Layout, collapse, partials, whole_axis


def stage_operands(kernel: KernelOp, plans: Mapping[tile.DotOp, GemmPlan]) -> None:
    """Replace dots, converts, reshapes and reductions by their staged forms, in place."""
    threads = kernel.threads.value.data
    for op in list(kernel.body.walk()):
        if isinstance(op, tile.DotOp):
            _stage_dot(op, plans[op], threads)
        elif isinstance(op, tile.ConvertOp | tile.ReshapeOp):
            _stage_move(op, threads)
        elif isinstance(op, tile.ReduceOp):
            _stage_reduce(op, threads)


class _Rewrite:
    """Puts new ops before `op`, with its location, and replaces it at the end."""

    def __init__(self, op: Operation) -> None:
        self._op = op

    def add(self, op: Operation) -> Operation:
        copy_location(self._op, op)
        Rewriter.insert_op(op, InsertPoint.before(self._op))
        return op

    def buffer(
        self, purpose: str, of: Attribute, physical: Sequence[int], order: Sequence[int]
    ) -> SSAValue:
        return self.add(staged.BufferOp(purpose, of, physical, order)).results[0]

    def through_shared(
        self, purpose: str, value: SSAValue, result: Layout, threads: int, *, dense: bool = False
    ) -> SSAValue:
        """Write `value`, read it back under another layout."""
        source = layout_of(value, threads)
        physical = source.shape if dense else _covers(source, result)
        order = range(len(source.shape))
        buffer = self.buffer(purpose, element(value), physical, order)
        self.add(staged.WriteOp(value, buffer))
        return self.add(staged.ReadOp(buffer, tile_type(element(value), result))).results[0]

    def replace(self, value: SSAValue) -> None:
        self._op.results[0].replace_all_uses_with(value)
        self._op.detach()
        self._op.erase()


def _stage_dot(op: tile.DotOp, plan: GemmPlan, threads: int) -> None:
    accumulator = layout_of(op.acc, threads)
    depth = shape(op.a)[1]
    rewrite = _Rewrite(op)
    b_axis = 0 if op.transpose_b is not None else 1
    buffers: list[SSAValue] = []
    for which, value, free in ((0, op.a, 0), (1, op.b, b_axis)):
        held = layout_of(value, threads)
        reach = max(accumulator.cover[which], held.cover[free])
        physical = (max(depth, held.cover[1 - free]), reach + plan.pads[which])
        purpose = f"{name_of(value)}, operand {'ab'[which]} of dot"
        buffer = rewrite.buffer(purpose, element(value), physical, (1 - free, free))
        rewrite.add(staged.WriteOp(value, buffer))
        buffers.append(buffer)
    dot = staged.DotOp(buffers[0], buffers[1], op.acc, depth, plan, (op.unsigned_a, op.unsigned_b))
    rewrite.replace(rewrite.add(dot).results[0])


def _stage_move(op: tile.ConvertOp | tile.ReshapeOp, threads: int) -> None:
    rewrite = _Rewrite(op)
    reshapes = isinstance(op, tile.ReshapeOp)
    purpose = f"{name_of(op.source)}, {'reshaped' if reshapes else 'changing threads'}"
    wanted = layout_of(op.result, threads)
    rewrite.replace(rewrite.through_shared(purpose, op.source, wanted, threads, dense=reshapes))


def _stage_reduce(op: tile.ReduceOp, threads: int) -> None:
    """Slots and lanes first; where warps still hold parts, once through shared memory and again."""
    rewrite = _Rewrite(op)
    axis = op.axis.value.data
    held = layout_of(op.source, threads)
    value = op.source
    if held.crossing_digits(axis):
        left = partials(held, axis)
        value = _combine(rewrite, op, value, left)
        purpose = f"parts of {name_of(op.source)}, reduced"
        value = rewrite.through_shared(purpose, value, whole_axis(left, axis), threads)
    rewrite.replace(_combine(rewrite, op, value, collapse(held, axis)))


def _combine(rewrite: _Rewrite, op: tile.ReduceOp, value: SSAValue, result: Layout) -> SSAValue:
    type_ = tile_type(element(value), result)
    return rewrite.add(staged.CombineOp(op.kind.data, value, op.axis.value.data, type_)).results[0]


def name_of(value: SSAValue) -> str:
    """What a reader calls the tile: its variable, or the tensor it was loaded from."""
    if value.name_hint:
        return value.name_hint
    if isinstance(value.owner, tile.LoadOp):
        return value.owner.source.name_hint or "a tile"
    return "a tile"


def _covers(a: Layout, b: Layout) -> list[int]:
    """A box that both layouts stay inside, dead slots included, so that no access needs a guard."""
    return [max(x, y) for x, y in zip(a.cover, b.cover, strict=True)]
