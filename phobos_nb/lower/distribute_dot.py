"""Dot on shared buffers per thread: fragments by vector loads, one outer product per k-step."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import StringAttr, VectorType, f32, f64, i32, i64
from xdsl.ir import Attribute, SSAValue

from phobos_nb.ir.dialects.shapes import element_of, is_float
from phobos_nb.lower import staged
from phobos_nb.lower.distribute_shared import places_in
from phobos_nb.lower.layout_types import byte_width
from phobos_nb.lower.layouts import Axis, Digit, Layout, one_of_stack
from phobos_nb.lower.thread_state import ThreadState

ORDER = "phobos.order"


def distribute_dot(state: ThreadState, op: staged.DotOp) -> None:
    """K-steps unrolled in groups, the groups in a loop; sums in the type of `_sum_type`."""
    b = state.b
    sums = sum_type(element_of(op.a.type))
    acc = widen(state, state.get(op.acc), sums, unsigned=False)
    fragments = fragments_of(state, op)
    depth, unroll = op.depth.value.data, op.unroll_k.value.data
    looped = depth // unroll * unroll if depth > unroll else 0
    if looped:
        loop = b.for_(b.index(0), b.index(looped), b.index(unroll), [acc])
        with b.inside(loop.body.block):
            start, inner = loop.body.block.args
            for step in range(unroll):
                rows, columns = (f.load(b.addi(start, b.index(step))) for f in fragments)
                inner = multiply(state, op, rows, columns, inner)
            b.yield_([inner])
        acc = loop.results[0]
    for step in range(looped, depth):
        rows, columns = (f.load(b.index(step)) for f in fragments)
        acc = multiply(state, op, rows, columns, acc)
    state.values[op.result] = narrow(state, acc, element_of(op.acc.type))


def fragments_of(
    state: ThreadState, op: staged.DotOp, *, flat: bool = False
) -> tuple[Fragment, Fragment]:
    """The fragments of a dot's two operands, in flat views of their buffers where asked."""
    groups, depth = op.groups.value.data, op.depth.value.data
    sums, own = sum_type(element_of(op.a.type)), state.threads // groups
    first = Axis((Digit(own, groups, depth),) if groups > 1 else ())
    rows, columns = one_of_stack(state.layout(op.acc), groups).axes
    return (
        Fragment(state, op.a, rows, first, sums, op.unsigned_a is not None, flat),
        Fragment(state, op.b, columns, first, sums, op.unsigned_b is not None, flat),
    )


class Fragment:
    """One operand's elements of a k-step: constant offsets from the thread's own view.

    first: the k-step at which a thread starts.
    """

    def __init__(
        self,
        state: ThreadState,
        buffer: SSAValue,
        axis: Axis,
        first: Axis,
        sums: Attribute,
        unsigned: bool,
        flat: bool,
    ) -> None:
        maker = cast(staged.BufferOp, buffer.owner)
        axes = [first, first]
        axes[maker.axis_order[1]] = axis
        shape = tuple(a.cover for a in axes)
        self._layout = Layout(shape, state.threads, tuple(axes))
        self._state, self._axis, self._sums, self._unsigned = state, axis, sums, unsigned
        self._view = state.view(buffer, self._layout, flat=flat)
        self._row = maker.physical[-1] if flat else 0
        self._places = places_in(buffer, self._layout, flat=False)
        self._element: Attribute = maker.type_.element_type
        self._staged = maker.type_.get_num_dims() > len(maker.axis_order)

    def load(self, step: SSAValue, *stage: SSAValue) -> SSAValue:
        """The fragment of one k-step, of a stage where the buffer has several, in the sums' type.

        `stage` is its number, in a flat view the offset of its first element.
        """
        stage = stage if self._staged else ()
        b = self._state.b
        whole = b.zero(VectorType(self._element, [len(self._axis.offsets)]))
        part_type = VectorType(self._element, [self._places.width])
        alignment = byte_width(self._element) * self._places.width
        for (_, slot), (_, offset) in self._places.accesses():
            places = [*stage, step, b.index(offset)]
            if self._row:
                at = b.addi(b.muli(step, b.index(self._row)), b.index(offset))
                places = [b.addi(stage[0], at) if stage else at]
            part = b.vector_load(self._view, places, part_type, alignment)
            whole = b.insert_strided_slice(part, whole, [slot])
        return widen(self._state, whole, self._sums, unsigned=self._unsigned)


def multiply(
    state: ThreadState, op: staged.DotOp, rows: SSAValue, columns: SSAValue, acc: SSAValue
) -> SSAValue:
    """The multiply-adds of one k-step in the dot's order."""
    if op.negated is not None:
        columns = _negative(state, columns)
    product = state.b.outerproduct(rows, columns, acc)
    product.attributes[ORDER] = StringAttr(op.product_order.data)
    return product.results[0]


def _negative(state: ThreadState, fragment: SSAValue) -> SSAValue:
    """Minus a fragment: a sign of the multiply-add's operand in machine code."""
    b = state.b
    if is_float(element_of(fragment.type)):
        return b.negf(fragment)
    return b.subi(b.zero(fragment.type), fragment)


def distribute_add_groups(state: ThreadState, op: staged.AddGroupsOp) -> None:
    """Each thread adds what it holds of each group's tile."""
    b, held, type_ = state.b, state.get(op.source), state.type_of(op.result)
    rows, groups = type_.get_shape()[0], op.groups.value.data
    parts = [b.extract_rows(held, g * rows, (g + 1) * rows) for g in range(groups)]
    add = b.addf if is_float(type_.element_type) else b.addi
    total = parts[0]
    for part in parts[1:]:
        total = add(total, part)
    state.values[op.result] = total


def sum_type(operand: Attribute) -> Attribute:
    """The type in which products are summed: f32 (f64 for f64), i32 (i64 for i64)."""
    if is_float(operand):
        return f64 if operand == f64 else f32
    return i64 if operand == i64 else i32


def widen(state: ThreadState, value: SSAValue, sums: Attribute, *, unsigned: bool) -> SSAValue:
    """A vector in the type of the sums, exactly."""
    if element_of(value.type) == sums:
        return value
    if is_float(sums):
        return state.b.extf(value, sums)
    return state.b.extui(value, sums) if unsigned else state.b.extsi(value, sums)


def narrow(state: ThreadState, value: SSAValue, wanted: Attribute) -> SSAValue:
    """Sums in the accumulator's declared type, rounded once."""
    if element_of(value.type) == wanted:
        return value
    return state.b.truncf(value, wanted) if is_float(wanted) else state.b.trunci(value, wanted)
