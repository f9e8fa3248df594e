"""What scalar expressions are worth when compiling: a number, or a sum of extents and positions."""

from __future__ import annotations

from phobos_nb.dtypes import DType, Kind
from phobos_nb.language import numeric
from phobos_nb.language.linear import Linear, linear
from phobos_nb.language.numeric import Number
from phobos_nb.language.typed import (
    Binary,
    Compare,
    Constant,
    Context,
    Convert,
    Expr,
    Extent,
    Logical,
    Unary,
    Variable,
    VariableRead,
)
from phobos_nb.language.types import ScalarType

Values = dict[Variable, Number | Linear]
"""What variables are sure to hold: a number, or a sum that `sum_of` found."""


def value_of(expr: Expr, values: Values) -> Number | None:
    """The value of a scalar in its type, or None where it is known only at run time."""
    if not isinstance(expr.type, ScalarType):
        return None
    match expr:
        case Constant(value=value):
            return value
        case VariableRead(variable=variable):
            held = values.get(variable)
            return None if isinstance(held, Linear) else held
        case Convert(operand=operand):
            known = value_of(operand, values)
            return None if known is None else numeric.convert(known, expr.type.dtype)
        case Unary(op=op, operand=operand):
            known = value_of(operand, values)
            return None if known is None else numeric.unary(op, known, expr.type.dtype)
        case Binary() | Compare():
            return _of_both(expr, expr.type.dtype, values)
        case Logical(op=op, left=left, right=right):
            decides = op == "||"
            sides = value_of(left, values), value_of(right, values)
            return decides if decides in sides else None if None in sides else not decides
        case _:
            return None


def _of_both(expr: Binary | Compare, dtype: DType, values: Values) -> Number | None:
    left, right = value_of(expr.left, values), value_of(expr.right, values)
    if left is None or right is None:
        return None
    if isinstance(expr, Compare):
        return numeric.compare(expr.op, left, right)
    return numeric.binary(expr.op, left, right, dtype)


def sum_of(expr: Expr, values: Values) -> Linear | None:
    """An integer as a sum of products whose atoms are 0 or more: extents, `ctx` and positions in loops.

    None where it is no such sum. That a sum may wrap around is not thought of.
    """
    if not _is_wide(expr):
        return None
    known = value_of(expr, values)
    if known is not None:
        return Linear(int(known))
    match expr:
        case Extent() | Context():
            return linear(expr, {})
        case VariableRead(variable=variable):
            held = values.get(variable)
            return held if isinstance(held, Linear) else None
        case Convert(operand=operand):
            return sum_of(operand, values)
        case Unary(op="-", operand=operand):
            inner = sum_of(operand, values)
            return None if inner is None else Linear().plus(inner, -1)
        case Binary(op=op):
            sides = sum_of(expr.left, values), sum_of(expr.right, values)
            return _combined(op, *sides, position(expr)) if None not in sides else None
        case _:
            return None


def position(node: object) -> Linear:
    """A number of which nothing is known but that it is 0 or more."""
    return Linear(0, {(("position", id(node)),): 1})


def never_negative(form: Linear) -> bool:
    """Whether a sum is 0 or more whatever its atoms are."""
    return form.constant >= 0 and all(c >= 0 for c in form.terms.values())


def _is_wide(expr: Expr) -> bool:
    """Whether it is an index or an integer of that many bits."""
    if not isinstance(expr.type, ScalarType):
        return False
    dtype = expr.type.dtype
    return dtype.kind is Kind.INDEX or (dtype.kind is Kind.SIGNED and dtype.bits >= 32)


def _combined(op: str, left: Linear | None, right: Linear | None, other: Linear) -> Linear | None:
    """The operation on two sums; a part of what is not negative is some position."""
    assert left is not None
    assert right is not None
    match op:
        case "+":
            return left.plus(right)
        case "-":
            return left.plus(right, -1)
        case "*":
            return left.times(right)
        case "/" | "%" | "&" | ">>" if never_negative(left) and never_negative(right):
            return other
        case _:
            return None
