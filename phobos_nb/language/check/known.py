"""What scalar expressions are worth when compiling, where constants alone decide it."""

from __future__ import annotations

from phobos_nb.dtypes import DType
from phobos_nb.language import numeric
from phobos_nb.language.numeric import Number
from phobos_nb.language.typed import (
    Binary,
    Compare,
    Constant,
    Convert,
    Expr,
    Logical,
    Unary,
    Variable,
    VariableRead,
)
from phobos_nb.language.types import ScalarType

Values = dict[Variable, Number]
"""What variables are sure to hold."""


def value_of(expr: Expr, values: Values) -> Number | None:
    """The value of a scalar in its type, or None where it is known only at run time."""
    if not isinstance(expr.type, ScalarType):
        return None
    match expr:
        case Constant(value=value):
            return value
        case VariableRead(variable=variable):
            return values.get(variable)
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
