"""Expressions: one typed node per syntax node, dispatched by kind."""

from __future__ import annotations

from phobos_nb.dtypes import BOOL, F32, INDEX
from phobos_nb.language.check import operators
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.conversions import constant, shape_of
from phobos_nb.language.check.ordered import in_order, splice
from phobos_nb.language.tree import (
    Boolean,
    Expression,
    Float,
    Infix,
    Integer,
    Prefix,
    Text,
)
from phobos_nb.language.typed import Assign, Call, Constant, Expr, If, Statement
from phobos_nb.language.types import TileType, Uniformity, VoidType


def check_expression(checker: Checker, node: Expression) -> Expr:
    """The typed expression: a scalar or a tile, or nothing for a call made for its effect."""
    with checker.deeper(node.span):
        expr = checker.expression_rules[type(node)](checker, node)
    if isinstance(expr.type, TileType):
        checker.require_together(Uniformity.CTA, "a tile operation", node.span)
    return expr


def check_value(checker: Checker, node: Expression) -> Expr:
    """An expression that has a value. Reports a call that yields none (PH104)."""
    expr = check_expression(checker, node)
    if isinstance(expr.type, VoidType):
        name = expr.builtin if isinstance(expr, Call) else "this call"
        raise checker.error("PH104", f"`{name}` yields no value", node.span)
    return expr


def check_scalar(checker: Checker, node: Expression, what: str) -> Expr:
    """A scalar. Reports a tile (PH206)."""
    expr = check_value(checker, node)
    if shape_of(expr):
        raise checker.error("PH206", f"{what} is a scalar, found {expr.type}", expr.span)
    return expr


def check_condition(checker: Checker, node: Expression, what: str) -> Expr:
    """A scalar bool. Reports anything else (PH106, PH206)."""
    expr = check_value(checker, node)
    operators.expect_bool(checker, expr, what)
    if shape_of(expr):
        help = "`where(condition, a, b)` chooses per element"
        raise checker.error("PH206", f"{what} is a scalar, found {expr.type}", expr.span, help)
    return expr


def constant_int(checker: Checker, node: Expression, what: str) -> int:
    """An integer known when compiling. Reports anything else (PH109)."""
    expr = check_scalar(checker, node, what)
    if isinstance(expr, Constant) and isinstance(expr.value, int) and not isinstance(expr.value, bool):
        return expr.value
    if isinstance(expr, Constant):
        raise checker.error("PH109", f"{what} is an integer constant, found {expr.type}", node.span)
    help = "write a number, an `@autotune` name or an `int` generic"
    message = f"{what} is an integer constant, but this is known only at run time"
    raise checker.error("PH109", message, node.span, help)


def check_integer(_checker: Checker, node: Integer) -> Expr:
    """An integer literal."""
    return constant(node.value, INDEX, node.span, literal=True)


def check_float(_checker: Checker, node: Float) -> Expr:
    """A float literal, f32 when alone."""
    return constant(node.value, F32, node.span, literal=True)


def check_boolean(_checker: Checker, node: Boolean) -> Expr:
    """`true` or `false`."""
    return constant(node.value, BOOL, node.span)


def check_text(checker: Checker, node: Text) -> Expr:
    """A string, which has no value (PH104)."""
    raise checker.error("PH104", "a text stands only in `print` and `assert`", node.span)


def check_prefix(checker: Checker, node: Prefix) -> Expr:
    """`-`, `!` or `~`."""
    return operators.unary(checker, node.op, check_value(checker, node.operand), node.span)


def check_infix(checker: Checker, node: Infix) -> Expr:
    """A binary operator; operands are evaluated from left to right."""
    if node.op in ("&&", "||"):
        return _check_logical(checker, node)
    left, right = in_order(checker, (node.left, node.right), check_value)
    assert isinstance(left, Expr)
    assert isinstance(right, Expr)
    if node.op in operators.COMPARISONS:
        return operators.compare(checker, node.op, left, right, node.span)
    return operators.binary(checker, node.op, left, right, node.span)


def _check_logical(checker: Checker, node: Infix) -> Expr:
    """A constant left side that decides keeps the right side from being checked at all."""
    what = f"an operand of `{node.op}`"
    left = check_value(checker, node.left)
    operators.expect_bool(checker, left, what)
    if isinstance(left, Constant) and left.value == (node.op == "||"):
        return left
    with checker.flow.under(left.uniformity, left.span), checker.collect() as emitted:
        right = check_value(checker, node.right)
    operators.expect_bool(checker, right, what)
    if not emitted or isinstance(left, Constant) or shape_of(left) or shape_of(right):
        splice(checker, emitted)
        if isinstance(left, Constant):
            return right
        return operators.logical(checker, node.op, left, right, node.span)
    return _guarded(checker, node, left, (tuple(emitted), right))


def _guarded(
    checker: Checker, node: Infix, left: Expr, lazy: tuple[tuple[Statement, ...], Expr]
) -> Expr:
    """Statements of the right side (an inlined function) run only where the left does not decide."""
    statements, right = lazy
    result = checker.variable(f"{node.op} result", left, mutable=True, span=node.span)
    undecided = checker.read(result, left.span)
    if node.op == "||":
        undecided = operators.unary(checker, "!", undecided, left.span)
    update = Assign(variable=result, value=right, declares=False, span=node.right.span)
    checker.emit(If(condition=undecided, then=(*statements, update), span=node.span))
    checker.flow.assign(result, max(left.uniformity, right.uniformity))
    return checker.read(result, node.span)
