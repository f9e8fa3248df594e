"""Decides what lives in shared memory, and writes every trip through it as `staged` ops.

Operands of a dot are written k-major into buffers of their own; a convert or a reshape goes through one;
a reduction that leaves the warp exchanges its parts through one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, i1, i8, i64
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.tile_kernel import KernelOp, tensor_name
from phobos_nb.ir.locations import copy_location
from phobos_nb.lower import staged
from phobos_nb.lower.gemm_plan import GemmPlan
from phobos_nb.lower.layout_types import byte_width, element, is_tile, layout_of, tile_type
from phobos_nb.lower.layouts import (
    Layout,
    blocked,
    collapse,
    held_in_stack,
    one_of_stack,
    partials,
    whole_axis,
)
from phobos_nb.lower.padding import SharedAccess, choose_pad

PARTIAL = "partial results"
"""What the purpose of a buffer begins with that warps exchange their parts of a reduction through."""


def stage_operands(kernel: KernelOp, plans: Mapping[tile.DotOp, GemmPlan]) -> None:
    """Replace dots, converts, reshapes and reductions by their staged forms, in place."""
    threads = kernel.threads.value.data
    written: _Written = {}
    for op in list(kernel.body.walk()):
        if isinstance(op, tile.DotOp):
            _stage_dot(op, plans[op], threads, written)
        elif isinstance(op, tile.ConvertOp | tile.ReshapeOp):
            _stage_move(op, threads)
        elif isinstance(op, tile.ReduceOp):
            _stage_reduce(op, threads)
        elif isinstance(op, tile.AddGroupsOp):
            _stage_add_groups(op, threads)
        elif isinstance(op, tile.BlockReduceOp):
            _stage_block_reduce(op, threads)


_MEMORY: dict[Attribute, Attribute] = {i1: i8, IndexType(): i64}
"""What values without a place of their own in memory are kept as."""


_Written = dict[tuple[SSAValue, int, int, int, Block | None], SSAValue]
"""Operand buffers by tile, free axis, physical extents and the block they are written in."""


class _Rewrite:
    """Puts new ops before `place`, at first the op itself, with its location; replaces it at the end."""

    def __init__(self, op: Operation) -> None:
        self._op = op
        self.place = op

    def add(self, op: Operation) -> Operation:
        copy_location(self._op, op)
        Rewriter.insert_op(op, InsertPoint.before(self.place))
        return op

    def buffer(
        self, purpose: str, of: Attribute, physical: Sequence[int], order: Sequence[int]
    ) -> SSAValue:
        held = _MEMORY.get(of, of)
        return self.add(staged.BufferOp(purpose, held, physical, order)).results[0]

    def through_shared(
        self, purpose: str, value: SSAValue, result: Layout, threads: int, *, dense: bool = False
    ) -> SSAValue:
        """Write `value`, read it back under another layout."""
        source = layout_of(value, threads)
        order = tuple(range(len(source.shape)))
        physical = list(source.shape) if dense else _covers(source, result)
        if not dense:
            uses = [SharedAccess(layout, order) for layout in (source, result)]
            physical[-1] += choose_pad(physical, byte_width(element(value)), uses)
        buffer = self.buffer(purpose, element(value), physical, order)
        self.add(staged.WriteOp(value, buffer))
        return self.add(staged.ReadOp(buffer, tile_type(element(value), result))).results[0]

    def reduced(self, kind: CombiningKindFlag, value: SSAValue, axis: int, threads: int) -> SSAValue:
        """Slots and lanes first; where warps still hold parts, through shared memory and again."""
        held = layout_of(value, threads)
        name = name_of(value)
        if held.crossing_digits(axis):
            left = partials(held, axis)
            value = self._combine(kind, value, axis, left)
            whole = whole_axis(left, axis)
            value = self.through_shared(f"{PARTIAL} of {name}", value, whole, threads)
        return self._combine(kind, value, axis, collapse(held, axis))

    def _combine(self, kind: CombiningKindFlag, value: SSAValue, axis: int, result: Layout) -> SSAValue:
        type_ = tile_type(element(value), result)
        return self.add(staged.CombineOp(kind, value, axis, type_)).results[0]

    def replace(self, value: SSAValue) -> None:
        self._op.results[0].replace_all_uses_with(value)
        self._op.detach()
        self._op.erase()


def _stage_dot(op: tile.DotOp, plan: GemmPlan, threads: int, written: _Written) -> None:
    """Both operands in buffers; one that an earlier dot of the block wrote alike is read again."""
    groups = op.group_count
    accumulator = one_of_stack(layout_of(op.acc, threads), groups)
    depth = op.extents[2]
    rewrite = _Rewrite(op)
    buffers: list[SSAValue] = []
    for which, (value, deep) in enumerate(zip((op.a, op.b), op.deep, strict=True)):
        free = 1 - deep
        held = layout_of(value, threads)
        reach = max(accumulator.cover[which], held.cover[free])
        physical = (max(depth, held.cover[1 - free]), reach)
        pad = plan.pads[which]
        if pad is None:
            access = SharedAccess(held, (1 - free, free))
            pad = choose_pad(physical, byte_width(element(value)), [access], whole=True)
        purpose = f"{name_of(value)} for dot"
        rewrite.place = _outside_loops(op, value)
        key = (value, free, physical[0], reach + pad, rewrite.place.parent_block())
        if key not in written:
            buffer = rewrite.buffer(purpose, element(value), key[2:4], (1 - free, free))
            rewrite.add(staged.WriteOp(value, buffer))
            written[key] = buffer
        buffers.append(written[key])
    rewrite.place = op
    unsigned = op.unsigned_a, op.unsigned_b
    dot = staged.DotOp(
        buffers[0],
        buffers[1],
        op.acc,
        depth // groups,
        plan,
        unsigned,
        negated=op.negated,
        groups=groups,
    )
    rewrite.replace(rewrite.add(dot).results[0])


def _outside_loops(op: Operation, value: SSAValue) -> Operation:
    """The op itself, or the outermost loop around it that the value does not change in."""
    place = op
    while isinstance(loop := place.parent_op(), scf.ForOp | scf.WhileOp):
        if loop.is_ancestor(value.owner):
            break
        place = loop
    return place


def _stage_move(op: tile.ConvertOp | tile.ReshapeOp, threads: int) -> None:
    rewrite = _Rewrite(op)
    reshapes = isinstance(op, tile.ReshapeOp)
    name = name_of(op.source)
    purpose = f"flat({name})" if reshapes else f"{name} moved between lanes"
    wanted = layout_of(op.result, threads)
    rewrite.replace(rewrite.through_shared(purpose, op.source, wanted, threads, dense=reshapes))


def _stage_reduce(op: tile.ReduceOp, threads: int) -> None:
    rewrite = _Rewrite(op)
    rewrite.replace(rewrite.reduced(op.kind.data, op.source, op.axis.value.data, threads))


def _stage_add_groups(op: tile.AddGroupsOp, threads: int) -> None:
    """All threads read what each group has for their elements."""
    rewrite, groups = _Rewrite(op), op.groups.value.data
    wanted = held_in_stack(layout_of(op.result, threads), groups)
    held = rewrite.through_shared(f"{name_of(op.source)} of all groups", op.source, wanted, threads)
    rewrite.replace(rewrite.add(staged.AddGroupsOp(held, groups, op.result.type)).results[0])


def _stage_block_reduce(op: tile.BlockReduceOp, threads: int) -> None:
    """The scalars of all threads are a tile of one element each."""
    rewrite = _Rewrite(op)
    held = tile_type(op.source.type, blocked((threads,), threads))
    gathered = rewrite.add(staged.GatherThreadsOp(op.source, held)).results[0]
    gathered.name_hint = op.source.name_hint
    total = rewrite.reduced(op.kind.data, gathered, 0, threads)
    rewrite.replace(rewrite.add(staged.ScalarOp(total, op.source.type)).results[0])


def name_of(value: SSAValue) -> str:
    """What a reader calls the tile: its variable, the tensor it came from, or what it is made of."""
    names = list(dict.fromkeys(_names(value, set())))
    if names == [_own_name(value)]:
        return names[0]
    *most, last = names or ["constants"]
    made_of = f"{', '.join(most)} and {last}" if most else last
    return f"an expression of {made_of}"


def _own_name(value: SSAValue) -> str:
    if not value.name_hint and isinstance(value.owner, tile.LoadOp | tile.LoadElementOp):
        return tensor_name(value.owner.source)
    return value.name_hint or ""


def _names(value: SSAValue, seen: set[SSAValue]) -> Iterator[str]:
    """The nearest names that a value is made of, scalars and indices left out where tiles have some."""
    if value in seen:
        return
    seen.add(value)
    if name := _own_name(value):
        yield name
    elif isinstance(value.owner, Operation):
        operands = list(value.owner.operands)
        if isinstance(value.owner, staged.ReadOp):
            operands = [use.operation.operands[0] for use in value.owner.buffer.uses]
        for operand in [v for v in operands if is_tile(v)] or operands:
            yield from _names(operand, seen)


def _covers(a: Layout, b: Layout) -> list[int]:
    """A box that both layouts stay inside, dead slots included, so that no access needs a guard."""
    return [max(x, y) for x, y in zip(a.cover, b.cover, strict=True)]
