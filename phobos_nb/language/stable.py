"""Which expressions may be evaluated again, or later, without a difference."""

from __future__ import annotations

from phobos_nb.language.typed import (
    Binary,
    Compare,
    Constant,
    Context,
    Convert,
    Expr,
    Extent,
    Fill,
    Logical,
    ScalarArgument,
    Unary,
    VariableRead,
)
from phobos_nb.language.walk import expressions


def is_stable(expr: Expr) -> bool:
    """Whether the expression is free to evaluate and has one value wherever it stands."""
    return is_repeatable(expr) and all(
        not e.variable.mutable for e in (expr, *expressions(expr)) if isinstance(e, VariableRead)
    )


def is_repeatable(expr: Expr) -> bool:
    """Whether evaluating the expression twice in a row gives the same value and no effect."""
    match expr:
        case Constant() | Context() | Extent() | ScalarArgument() | VariableRead():
            return True
        case Unary(operand=operand) | Convert(operand=operand) | Fill(operand=operand):
            return is_repeatable(operand)
        case Binary() | Compare() | Logical():
            return is_repeatable(expr.left) and is_repeatable(expr.right)
        case _:
            return False
