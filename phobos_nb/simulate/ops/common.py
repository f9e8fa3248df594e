"""Pieces that the rows of several dialects share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects import scf
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from phobos_nb.ir.dialects.shapes import shape_of
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.program import Decoder, Step
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools, DTypeLike, Value, is_array

FRESH = {"vector.outerproduct", "vector.fma", "vector.insert_strided_slice", "arith.constant"}
"""Operations whose result never shares memory with another live value (constants are never
written: they hold one lane)."""


def unary(function: Callable[[Value], Value]) -> Callable[[Decoder, Operation], Step]:
    """A row that applies a function to one operand."""

    def row(d: Decoder, op: Operation) -> Step:
        a, r = d.slot(op.operands[0]), d.slot(op.results[0])

        def step(m: Machine, s: Strand) -> None:
            s.values[r] = function(s.values[a])

        return step

    return row


def apply2(d: Decoder, op: Operation, function: Callable[[Value, Value], Value]) -> Step:
    """The step that applies a function to two operands."""
    a, b, r = d.slot(op.operands[0]), d.slot(op.operands[1]), d.slot(op.results[0])

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        v[r] = function(v[a], v[b])

    return step


def nothing(d: Decoder, op: Operation) -> Step:
    """A row for operations without an effect of their own; results get the value 0."""
    slots = d.slots(op.results)

    def step(m: Machine, s: Strand) -> None:
        for r in slots:
            s.values[r] = 0

    return step


def alias(d: Decoder, op: Operation) -> Step:
    """A row whose result is its operand."""
    return unary(lambda x: x)(d, op)


def settle(value: Any, dtype: DTypeLike) -> Value:
    """A computed value in the form that values take: uniform integers and bools are Python's."""
    if is_array(value) and value.ndim:
        return value
    if dtype.kind in "iub":
        return value.item() if hasattr(value, "item") else value
    return dtype.type(value)


def static_shape(type_: Attribute) -> tuple[int, ...]:
    """The shape of a vector or memref type, () for a scalar."""
    return shape_of(type_) or ()


def lanes_of(bad: Any, s: Strand) -> Bools:
    """Which active lanes are marked anywhere in a scalar's or vector's marks."""
    marks = np.asarray(bad)
    if marks.ndim > 1:
        marks = marks.any(tuple(range(marks.ndim - 1)))
    lanes = np.broadcast_to(marks, (s.count,))
    return lanes if s.mask is None else lanes & s.mask


def reusable(value: SSAValue) -> bool:
    """Whether the memory of a vector may be written by its one use, which then holds its result.

    It has one use, in the block where it is made, and is made by an operation that shares nothing.
    """
    uses = list(value.uses)
    if len(uses) != 1 or uses[0].operation.parent_block() is not _block(value):
        return False
    if isinstance(value, OpResult):
        if value.op.name in FRESH:
            return True
        return isinstance(value.op, scf.ForOp) and _carried(value.op, value.index)
    if isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        return isinstance(loop, scf.ForOp) and value.index > 0 and _carried(loop, value.index - 1)
    return False


def _carried(loop: scf.ForOp, index: int) -> bool:
    """Whether a loop-carried vector is made by nothing but reusable values."""
    last = loop.body.block.last_op
    if last is None:
        return False
    made = last.operands[index]
    fresh = isinstance(made, OpResult) and made.op.name in FRESH and len(list(made.uses)) == 1
    return fresh and reusable(loop.iter_args[index])


def _block(value: SSAValue) -> Block | None:
    owner = value.owner
    return owner if isinstance(owner, Block) else owner.parent_block()
