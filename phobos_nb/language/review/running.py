"""Running maxima that start at a finite number (PH212)."""

from __future__ import annotations

import math

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.typed import (
    Assign,
    Call,
    Constant,
    Expr,
    Fill,
    TypedKernel,
    Variable,
    VariableRead,
)
from phobos_nb.language.walk import expressions, statements

SENTINEL = 1e4
"""A start value beyond this stands for infinity; smaller ones may be meant as bounds."""
_EXTREMES = {"max": -1.0, "tmax": -1.0, "min": 1.0, "tmin": 1.0}


def review_running_maximum(kernel: TypedKernel, diagnostics: Diagnostics) -> None:
    """Warn of maxima (minima) that start at a large negative (positive) finite number."""
    starts: dict[Variable, tuple[Assign, float]] = {}
    for statement in statements(kernel.body):
        if not isinstance(statement, Assign):
            continue
        start = _constant(statement.value)
        if statement.declares and start is not None and SENTINEL <= abs(start) < math.inf:
            starts[statement.variable] = statement, start
        elif statement.variable in starts and _is_extreme(statement, starts[statement.variable][1]):
            declaration, start = starts.pop(statement.variable)
            _warn(declaration, start, diagnostics)


def _constant(value: Expr) -> float | None:
    value = value.operand if isinstance(value, Fill) else value
    return float(value.value) if isinstance(value, Constant) else None


def _is_extreme(node: Assign, start: float) -> bool:
    """Whether the statement takes the maximum of the variable itself and something else."""
    for expr in (node.value, *expressions(node.value)):
        if isinstance(expr, Call) and _EXTREMES.get(expr.builtin, 0.0) * start > 0:
            own = (a for a in expr.arguments if isinstance(a, VariableRead))
            if any(a.variable is node.variable for a in own):
                return True
    return False


def _warn(declaration: Assign, start: float, diagnostics: Diagnostics) -> None:
    name = declaration.variable.name
    infinity = "-inf" if start < 0 else "inf"
    beyond = "below" if start < 0 else "above"
    diagnostics.warn(
        "PH212",
        f"the running extreme `{name}` starts at {start:g}: values {beyond} it are lost",
        declaration.span,
        help=f"start it at `{infinity}`",
    )
