"""Gives every tile its layout, and inserts `tile.convert` where two fixed layouts meet.

Classes (layout_classes.py) are served by rising freedom: accumulators of dots take their plan's thread
tile; tiles that are loaded or stored are spread so that neighbours in memory lie in neighbouring
threads, by 16 bytes where the variant allows; the rest is blocked. The result of a reduction and the
source of a broadcast take the collapsed layout of the tile they belong to, so that nothing moves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from phobos_nb.contract import Variant
from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.tile_kernel import KernelOp, tensor_name
from phobos_nb.ir.locations import copy_location
from phobos_nb.lower.gemm_plan import DotShape, GemmPlan, choose, share
from phobos_nb.lower.index_facts import IndexFacts
from phobos_nb.lower.layout_classes import Classes, clone_free_values, collect, is_free
from phobos_nb.lower.layout_types import byte_width, element, layout_of, set_layout, shape, tile_type
from phobos_nb.lower.layouts import (
    WARP,
    Layout,
    blocked,
    collapse,
    lines,
    permute,
    stacked,
    stretch_source,
)
from phobos_nb.target import Target

VECTOR_BYTES = 16
"""The widest access of one thread to memory."""


@dataclass
class Assignment:
    """What the pass decided: the plan of each dot."""

    plans: dict[tile.DotOp, GemmPlan] = field(default_factory=dict[tile.DotOp, GemmPlan])


@dataclass(frozen=True)
class _Uses:
    """What decides the layout of one class."""

    dots: list[tile.DotOp]
    boxes: list[tile.LoadOp | tile.StoreOp]
    scans: list[tile.ScanOp]
    reduced_axes: frozenset[int]


def assign_layouts(
    kernel: KernelOp, target: Target, variant: Variant, constants: Mapping[str, int]
) -> Assignment:
    """Set the layout of every tile of the kernel in place."""
    clone_free_values(kernel)
    assigner = _Assigner(kernel, target, variant, constants)
    assigner.run()
    _insert_converts(kernel)
    return assigner.assignment


class _Assigner:
    def __init__(
        self, kernel: KernelOp, target: Target, variant: Variant, constants: Mapping[str, int]
    ) -> None:
        self.assignment = Assignment()
        self._kernel = kernel
        self._target = target
        self._variant = variant
        self._constants = constants
        self._threads = kernel.threads.value.data
        self._facts = IndexFacts(kernel)
        self._classes: Classes = collect(kernel)
        self._members = self._classes.members()
        self._layouts: dict[SSAValue, Layout] = {}
        self._reduced: dict[tuple[int, ...], set[int]] = {}

    def run(self) -> None:
        uses = {root: self._uses(members) for root, members in self._members.items()}
        for root, found in uses.items():
            self._reduced.setdefault(shape(root), set()).update(found.reduced_axes)
        for root in sorted(uses, key=lambda r: self._order(r, uses[r])):
            if root not in self._layouts:
                self._layouts[root] = self._choose(root, uses[root])
            self._follow(root, uses)
        for root, members in self._members.items():
            for value in members:
                set_layout(value, self._layouts[root])

    def _uses(self, members: list[SSAValue]) -> _Uses:
        users = [u.operation for v in members for u in v.uses]
        makers = [v.owner for v in members if isinstance(v.owner, Operation)]
        dots = [op for op in makers if isinstance(op, tile.DotOp)]
        stores = [op for op in users if isinstance(op, tile.StoreOp)]
        loads = [op for op in makers if isinstance(op, tile.LoadOp)]
        scans = [op for op in makers if isinstance(op, tile.ScanOp)]
        reduced = {op.axis.value.data for op in users if isinstance(op, tile.ReduceOp | tile.ArgmaxOp)}
        return _Uses(dots, [*stores, *loads], scans, frozenset(reduced))

    def _order(self, root: SSAValue, uses: _Uses) -> tuple[object, ...]:
        """Dots first, then scans, then large tiles, then those with a memory access to serve."""
        return (not uses.dots, not uses.scans, -math.prod(shape(root)), not uses.boxes)

    def _choose(self, root: SSAValue, uses: _Uses) -> Layout:
        if uses.dots:
            return self._accumulator(uses.dots)
        if uses.scans:
            return lines(shape(root), self._threads, uses.scans[0].axis.value.data)
        if self._rows_by_lanes(root, uses):
            return lines(shape(root), self._threads, 1)
        return self._spread(root, uses)

    def _rows_by_lanes(self, root: SSAValue, uses: _Uses) -> bool:
        """Whether each thread takes one row of a left operand, because a row is one access.

        Lanes along rows fetch no more sectors then than lanes along k do, and what they store to the
        k-major buffer lies in neighbouring banks without a pad. Asynchronous copies go by elements.
        """
        users = [use.operation for value in self._members[root] for use in value.uses]
        lefts = {u.a for u in users if isinstance(u, tile.DotOp)}
        if lefts != {root} or not all(isinstance(u, tile.DotOp) and u.deep[0] == 1 for u in users):
            return False
        size, row = byte_width(element(root)), shape(root)[-1]
        by_registers = not self._target.has("cp.async") or size not in (4, 8)
        return by_registers and size * row == VECTOR_BYTES and min(map(self._vector, uses.boxes)) == row

    def _accumulator(self, dots: list[tile.DotOp]) -> Layout:
        """The thread tile of the first dot of the class; further dots share its grid."""
        groups = dots[0].group_count
        problem, threads = share(dot_shape(dots[0]), groups), self._threads // groups
        plan = choose(problem, threads, self._target, self._constants)
        for dot in dots:
            own = share(dot_shape(dot), groups)
            again = choose(own, threads, self._target, self._constants)
            self.assignment.plans[dot] = GemmPlan(
                plan.grid, again.stages, again.unroll_k, again.pads, again.order, again.group
            )
        return stacked(plan.accumulator(problem, threads), groups, self._threads)

    def _spread(self, root: SSAValue, uses: _Uses) -> Layout:
        extents = shape(root)
        fastest, vector = len(extents) - 1, min(map(self._vector, uses.boxes), default=1)
        room = max(1, math.prod(extents) // self._threads)
        vector = min(vector, 1 << (room.bit_length() - 1))
        others = math.prod(extents) // extents[fastest]
        rows_fill_warps = others * WARP >= self._threads
        cap = WARP if fastest in self._reduced[extents] and rows_fill_warps else 0
        return blocked(extents, self._threads, vector, fastest=fastest, cap=cap)

    def _vector(self, box: tile.LoadOp | tile.StoreOp) -> int:
        """How many elements one access of the box may take, by variant, index and element size."""
        value = box.result if isinstance(box, tile.LoadOp) else box.value
        last = len(box.indices) - 1
        tensor = box.source if isinstance(box, tile.LoadOp) else box.destination
        thin = tensor_name(tensor) in self._variant.thin
        if not self._variant.aligned or thin or not self._variant.unit_stride or last not in box.sliced:
            return 1
        widest = VECTOR_BYTES // byte_width(element(value))
        return max(1, math.gcd(widest, self._facts.multiple(box.indices[last])))

    def _follow(self, root: SSAValue, uses: Mapping[SSAValue, _Uses]) -> None:
        """Hand the class's layout on to tiles tied to it that have none yet and no call for another.

        Across a transpose a tile that is loaded or stored keeps its own layout, for coalescing; of a
        single row or column every thread can as well load what it needs.
        """
        for value in self._members[root]:
            for other, layout in _tied(value, self._layouts[root]):
                self._offer(other, layout, uses)
            for other, layout in _turned(value, self._layouts[root]):
                line = isinstance(value.owner, tile.TransposeOp) and _is_line(other)
                if line or not uses[self._classes.find(other)].boxes:
                    self._offer(other, layout, uses)

    def _offer(self, tile_: SSAValue, layout: Layout, uses: Mapping[SSAValue, _Uses]) -> None:
        root = self._classes.find(tile_)
        if root not in self._layouts and not uses[root].dots and not uses[root].scans:
            self._layouts[root] = layout
            self._follow(root, uses)


def _is_line(value: SSAValue) -> bool:
    """Whether a tile is a single row or column."""
    return max(shape(value)) == math.prod(shape(value))


def _tied(value: SSAValue, layout: Layout) -> Iterator[tuple[SSAValue, Layout]]:
    """Smaller tiles that need not move if they take a layout collapsed from that of `value`."""
    if isinstance(value.owner, tile.BroadcastOp):
        yield value.owner.source, stretch_source(layout, shape(value.owner.source))
    for user in [use.operation for use in value.uses]:
        if isinstance(user, tile.ReduceOp | tile.ArgmaxOp):
            yield user.result, collapse(layout, user.axis.value.data)


def _turned(value: SSAValue, layout: Layout) -> Iterator[tuple[SSAValue, Layout]]:
    """Transposed tiles that need not move if they take the permuted layout."""
    if isinstance(value.owner, tile.TransposeOp):
        yield value.owner.source, permute(layout, _inverse(value.owner))
    for user in [use.operation for use in value.uses]:
        if isinstance(user, tile.TransposeOp):
            yield user.result, permute(layout, tuple(user.permutation.get_values()))


def _inverse(op: tile.TransposeOp) -> tuple[int, ...]:
    order = list(op.permutation.get_values())
    return tuple(order.index(a) for a in range(len(order)))


def _required(op: Operation, threads: int) -> list[tuple[int, Layout]]:
    """The operands that an op wants in a certain layout, by operand index.

    A broadcast and a transpose follow from their result, and an argmax is exchanged inside warps.
    """
    if isinstance(op, tile.BroadcastOp):
        return [(0, stretch_source(layout_of(op.result, threads), shape(op.source)))]
    if isinstance(op, tile.TransposeOp):
        return [(0, permute(layout_of(op.result, threads), _inverse(op)))]
    if isinstance(op, tile.ScanOp):
        return [(0, _scanned(op, threads))]
    if isinstance(op, tile.ArgmaxOp):
        axis, held = op.axis.value.data, layout_of(op.source, threads)
        if held.crossing_digits(axis):
            return [(0, blocked(held.shape, threads, fastest=axis, cap=WARP))]
    return []


def dot_shape(dot: tile.DotOp) -> DotShape:
    """The problem of a dot."""
    rows, columns, depth = dot.extents
    return DotShape(rows, columns, depth, byte_width(element(dot.a)), byte_width(element(dot.acc)))


def _insert_converts(kernel: KernelOp) -> None:
    threads = kernel.threads.value.data
    for op in list(kernel.body.walk()):
        for index, wanted in _required(op, threads):
            op.operands[index] = _converted(op, op.operands[index], wanted)
        if isinstance(op, tile.ReduceOp | tile.ArgmaxOp):
            made = collapse(layout_of(op.source, threads), op.axis.value.data)
            _convert_result(op, made, threads)
        elif isinstance(op, tile.ScanOp):
            _convert_result(op, _scanned(op, threads), threads)


def _scanned(op: tile.ScanOp, threads: int) -> Layout:
    """The layout that a scan works in: its result's, if threads hold whole lines in that one."""
    held, axis = layout_of(op.result, threads), op.axis.value.data
    return lines(held.shape, threads, axis) if held.axes[axis].digits else held


def _convert_result(op: tile.ReduceOp | tile.ArgmaxOp | tile.ScanOp, made: Layout, threads: int) -> None:
    """The op yields the layout `made`; users that have another one get a convert."""
    wanted = layout_of(op.result, threads)
    if made.same_owners(wanted):
        return
    set_layout(op.result, made)
    convert = tile.ConvertOp(op.result, tile_type(element(op.result), wanted))
    copy_location(op, convert)
    assert op.parent is not None
    op.parent.insert_op_after(convert, op)
    op.result.replace_uses_with_if(convert.result, lambda use: use.operation is not convert)


def _converted(op: Operation, value: SSAValue, wanted: Layout) -> SSAValue:
    if layout_of(value, wanted.threads).same_owners(wanted):
        return value
    if isinstance(value.owner, Operation) and is_free(value.owner):
        return set_layout(value, wanted)
    convert = tile.ConvertOp(value, tile_type(element(value), wanted))
    copy_location(op, convert)
    assert op.parent is not None
    op.parent.insert_op_before(convert, op)
    return convert.result
