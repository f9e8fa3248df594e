"""What variables that are set once stand for, in a whole typed body."""

from __future__ import annotations

from phobos_nb.language.typed import Assign, Binary, Expr, For, Statement, Variable, VariableRead
from phobos_nb.language.walk import statements


def definitions_of(body: tuple[Statement, ...]) -> dict[Variable, Expr]:
    """Variable -> the expression it was set to; a loop variable is start + step * (its iteration)."""
    sets: dict[Variable, list[Expr]] = {}
    for statement in statements(body):
        if isinstance(statement, Assign):
            sets.setdefault(statement.variable, []).append(statement.value)
        elif isinstance(statement, For):
            sets[statement.variable] = [_position(statement)]
    return {variable: values[0] for variable, values in sets.items() if len(values) == 1}


def _position(loop: For) -> Expr:
    kind, span = loop.variable.type, loop.span
    iteration = Variable(f"{loop.variable.name}'s iteration", kind, False, span)
    count = VariableRead(type=kind, span=span, variable=iteration)
    moved = Binary(type=kind, span=span, op="*", left=loop.step, right=count)
    return Binary(type=kind, span=span, op="+", left=loop.start, right=moved)
