"""What an expression is worth in a CTA: one function per kind of node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.dtypes import DType
from phobos_nb.language import typed
from phobos_nb.language.meaning import arithmetic
from phobos_nb.language.meaning.conversion import convert, numpy_dtype
from phobos_nb.language.meaning.machine import Machine
from phobos_nb.language.meaning.memory import Span
from phobos_nb.language.meaning.outside import expect_inside
from phobos_nb.language.types import TileType, VoidType

Array = NDArray[Any]


def evaluate(machine: Machine, expr: typed.Expr) -> Array:
    """The value: a tile's elements, [threads], or 0-d where all threads share it."""
    return _EVALUATORS[type(expr)](machine, expr)


def dtype_of(expr: typed.Expr) -> DType:
    """The element type of an expression that has a value."""
    assert not isinstance(expr.type, VoidType)
    return expr.type.dtype


def is_tile(expr: typed.Expr) -> bool:
    """Whether the value is a tile of the CTA."""
    return isinstance(expr.type, TileType)


def box(machine: Machine, region: typed.Region) -> list[Span]:
    """The region's positions along every axis of its tensor, points as one position."""
    return [_span(machine, s) for s in region.subscripts]


def _span(machine: Machine, subscript: typed.Subscript) -> Span:
    if isinstance(subscript, typed.Point):
        return Span(machine.one(evaluate(machine, subscript.index)), 1)
    start = machine.one(evaluate(machine, subscript.start))
    stop = None if subscript.stop is None else machine.one(evaluate(machine, subscript.stop))
    return Span(start, subscript.length, stop)


def _constant(machine: Machine, expr: typed.Constant) -> Array:  # noqa: ARG001
    return np.asarray(expr.value, numpy_dtype(dtype_of(expr)))


def _variable(machine: Machine, expr: typed.VariableRead) -> Array:
    return machine.variables[expr.variable]


def _scalar_argument(machine: Machine, expr: typed.ScalarArgument) -> Array:
    return machine.launch.scalars[expr.name]


def _extent(machine: Machine, expr: typed.Extent) -> Array:
    return np.asarray(machine.launch.extents[expr.symbol], np.int64)


def _context(machine: Machine, expr: typed.Context) -> Array:
    match expr.kind:
        case "block":
            return np.asarray(machine.block[expr.axis])
        case "blocks":
            return np.asarray(machine.launch.grid[expr.axis])
        case "thread":
            return np.arange(machine.threads)
        case "warp":
            return np.arange(machine.threads) // 32
        case _:
            return np.arange(machine.threads) % 32


def _unary(machine: Machine, expr: typed.Unary) -> Array:
    return arithmetic.unary(expr.op, evaluate(machine, expr.operand))


def _binary(machine: Machine, expr: typed.Binary) -> Array:
    left, right = evaluate(machine, expr.left), evaluate(machine, expr.right)
    dtype = dtype_of(expr.left)
    wrong = arithmetic.forbidden(expr.op, right, dtype) if expr.op in _PARTIAL else None
    if wrong is not None and bool(np.any(wrong)):
        _refuse(machine, expr, wrong)
    return arithmetic.binary(expr.op, left, right, dtype)


_PARTIAL = ("/", "%", "<<", ">>")
"""Operators that have no result for some right operands."""


def _refuse(machine: Machine, expr: typed.Binary, wrong: Array) -> None:
    """Raise where it matters: an idle thread's value, and filler of a partial tile, do not."""
    if machine.partial if is_tile(expr) else not machine.any_active(wrong):
        return
    if expr.op in "/%":
        machine.fail("PH802", f"integer {expr.op} by zero", expr.right.span)
    machine.fail("PH803", f"{expr.op} by a negative amount or past the width", expr.right.span)


def _compare(machine: Machine, expr: typed.Compare) -> Array:
    return arithmetic.compare(expr.op, evaluate(machine, expr.left), evaluate(machine, expr.right))


def _logical(machine: Machine, expr: typed.Logical) -> Array:
    left = evaluate(machine, expr.left)
    if is_tile(expr):
        right = evaluate(machine, expr.right)
        return left & right if expr.op == "&&" else left | right
    undecided = left if expr.op == "&&" else ~left
    if not machine.any_active(undecided):
        return left
    before = machine.active
    if left.ndim:
        machine.activate(machine.active_mask() & undecided)
    right = evaluate(machine, expr.right)
    machine.activate(before)
    return np.where(undecided, right, left)


def _convert(machine: Machine, expr: typed.Convert) -> Array:
    return convert(evaluate(machine, expr.operand), dtype_of(expr.operand), dtype_of(expr))


def _fill(machine: Machine, expr: typed.Fill) -> Array:
    assert isinstance(expr.type, TileType)
    return np.broadcast_to(evaluate(machine, expr.operand), expr.type.shape)


def _tile_read(machine: Machine, expr: typed.TileRead) -> Array:
    memory = machine.memory(expr.region.tensor)
    pad = 0 if expr.pad is None else machine.one(evaluate(machine, expr.pad))
    if machine.launch.outside is not None and dtype_of(expr).is_float:
        pad = machine.launch.outside
    where = box(machine, expr.region)
    machine.partial = machine.partial or memory.is_partial(where)
    values = memory.read_box(where, pad)
    return values if values.ndim == len(expr.region.shape) else values.reshape(expr.region.shape)


def _element_read(machine: Machine, expr: typed.ElementRead) -> Array:
    indices = [evaluate(machine, i) for i in expr.indices]
    memory = machine.memory(expr.base)
    if isinstance(expr.base, typed.SharedArray):
        expect_inside(machine, expr.base, indices, expr.span)
    return memory.read(indices)


def _call(machine: Machine, expr: typed.Call) -> Array:
    values = [
        evaluate(machine, a) if isinstance(a, typed.Expr) else machine.memory(a) for a in expr.arguments
    ]
    return machine.launch.builtins[expr.builtin].reference(machine, expr, *values)


_EVALUATORS: dict[type[typed.Expr], Callable[[Machine, Any], Array]] = {
    typed.Constant: _constant,
    typed.VariableRead: _variable,
    typed.ScalarArgument: _scalar_argument,
    typed.Extent: _extent,
    typed.Context: _context,
    typed.Unary: _unary,
    typed.Binary: _binary,
    typed.Compare: _compare,
    typed.Logical: _logical,
    typed.Convert: _convert,
    typed.Fill: _fill,
    typed.TileRead: _tile_read,
    typed.ElementRead: _element_read,
    typed.Call: _call,
}
