"""Operators: operands brought to one dtype, constants folded, shapes stretched."""

from __future__ import annotations

from phobos_nb.diagnostics import Stop
from phobos_nb.dtypes import BOOL, F64, INDEX, DType, Kind
from phobos_nb.language import numeric
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.conversions import (
    common_dtype,
    constant,
    converted,
    dtype_of,
    expect_uniform,
    shape_of,
    stretched,
    with_shape,
)
from phobos_nb.language.typed import Binary, Compare, Constant, Expr, Logical, Unary
from phobos_nb.language.types import TileType, Uniformity
from phobos_nb.source import Span

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_BITWISE = frozenset({"&", "|", "^", "<<", ">>"})


def joined(*exprs: Expr) -> Uniformity:
    """Who shares a value computed from all of these; a tile belongs to the CTA."""
    if any(isinstance(e.type, TileType) for e in exprs):
        return Uniformity.CTA
    return max((e.uniformity for e in exprs), default=Uniformity.CTA)


def expect_uniform_scalars(checker: Checker, exprs: tuple[Expr, ...]) -> None:
    """Report a per-thread scalar that meets a tile (PH303)."""
    if not any(isinstance(e.type, TileType) for e in exprs):
        return
    for expr in exprs:
        expect_uniform(checker, expr, "a tile operation")


def unary(checker: Checker, op: str, operand: Expr, span: Span) -> Expr:
    """`-`, `~` or `!` of a scalar or tile."""
    dtype = dtype_of(operand)
    _expect_unary(checker, op, dtype, operand)
    if isinstance(operand, Constant):
        value = numeric.unary(op, operand.value, dtype)
        return constant(value, dtype, span, operand.literal)
    return Unary(type=operand.type, span=span, uniformity=operand.uniformity, op=op, operand=operand)


def _expect_unary(checker: Checker, op: str, dtype: DType, operand: Expr) -> None:
    if op == "!" and dtype.kind is not Kind.BOOL:
        raise checker.error(
            "PH104", f"`!` wants a bool, found {operand.type}", operand.span, "write `x == 0`"
        )
    if op != "!" and dtype.kind is Kind.BOOL:
        message = f"`{op}` wants a number, found {operand.type}"
        help = "`!` negates a bool; `where(condition, 1, 0)` makes it a number"
        raise checker.error("PH115", message, operand.span, help)
    if op == "~" and not dtype.is_integer:
        message = f"`~` wants an integer, found {operand.type}"
        raise checker.error("PH104", message, operand.span, "`bits(x)` gives the bits of a float")


def binary(checker: Checker, op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """An arithmetic or bitwise operator."""
    dtype = _common(checker, op, left, right, span)
    if isinstance(left, Constant) and isinstance(right, Constant):
        return _folded(checker, op, left, right, dtype, span)
    left, right = converted(checker, left, dtype), converted(checker, right, dtype)
    expect_uniform_scalars(checker, (left, right))
    kind = with_shape(dtype, stretched(checker, left, right, span))
    _expect_defined(checker, op, right)
    return Binary(type=kind, span=span, uniformity=joined(left, right), op=op, left=left, right=right)


def _common(checker: Checker, op: str, left: Expr, right: Expr, span: Span) -> DType:
    dtype = common_dtype(checker, left, right, span)
    if dtype.kind is Kind.BOOL and op not in "&|^":
        raise checker.error(
            "PH115",
            f"there is no arithmetic on bool: `{op}` of two bools",
            span,
            "choose numbers with `where(condition, 1, 0)`",
        )
    if op in _BITWISE and dtype.is_float:
        message = f"`{op}` wants integers, found {left.type} and {right.type}"
        raise checker.error("PH104", message, span, "`bits(x)` gives the bits of a float")
    return dtype


def _folded(
    checker: Checker, op: str, left: Constant, right: Constant, dtype: DType, span: Span
) -> Constant:
    literal = left.literal and right.literal
    if not literal:
        left, right = _constant(checker, left, dtype), _constant(checker, right, dtype)
    value = numeric.binary(op, left.value, right.value, _folding_dtype(dtype, literal))
    if value is None:
        raise _no_value(checker, op, right)
    return constant(value, dtype, span, literal)


def _folding_dtype(dtype: DType, literal: bool) -> DType:
    """Arithmetic on float literals alone keeps a double's digits until it takes a type."""
    return F64 if literal and dtype.is_float else dtype


def _constant(checker: Checker, expr: Constant, dtype: DType) -> Constant:
    result = converted(checker, expr, dtype)
    assert isinstance(result, Constant)
    return result


def _no_value(checker: Checker, op: str, right: Constant) -> Stop:
    what = "a division by zero" if op in "/%" else f"a shift by {right.value}"
    return checker.error("PH116", f"{what} has no value", right.span)


def _expect_defined(checker: Checker, op: str, right: Expr) -> None:
    """Report a constant divisor of zero and a constant shift past the width (PH116)."""
    dtype = dtype_of(right)
    if not isinstance(right, Constant) or not dtype.is_integer:
        return
    zero = op in "/%" and right.value == 0
    wide = op in ("<<", ">>") and not 0 <= right.value < dtype.bits
    if zero or wide:
        raise _no_value(checker, op, right)


def compare(checker: Checker, op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """A comparison; bools can only be equal or not."""
    dtype = common_dtype(checker, left, right, span)
    if dtype.kind is Kind.BOOL and op not in ("==", "!="):
        message = f"`{op}` wants numbers, found two bools"
        raise checker.error("PH115", message, span, "bools are only equal or not: `==`, `!=`")
    if isinstance(left, Constant) and isinstance(right, Constant):
        return constant(numeric.compare(op, left.value, right.value), BOOL, span)
    left, right = converted(checker, left, dtype), converted(checker, right, dtype)
    expect_uniform_scalars(checker, (left, right))
    kind = with_shape(BOOL, stretched(checker, left, right, span))
    return Compare(type=kind, span=span, uniformity=joined(left, right), op=op, left=left, right=right)


def expect_bool(checker: Checker, expr: Expr, what: str) -> None:
    """Report an operand that is not bool (PH106)."""
    if dtype_of(expr).kind is not Kind.BOOL:
        help = "compare it, for example with `!= 0`"
        raise checker.error("PH106", f"{what} is a bool, found {expr.type}", expr.span, help)


def logical(checker: Checker, op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """`&&` or `||` of two operands that are both evaluated or free of effects."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        value = (left.value and right.value) if op == "&&" else (left.value or right.value)
        return constant(bool(value), BOOL, span)
    expect_uniform_scalars(checker, (left, right))
    kind = with_shape(BOOL, stretched(checker, left, right, span))
    return Logical(type=kind, span=span, uniformity=joined(left, right), op=op, left=left, right=right)


def as_index(checker: Checker, expr: Expr, what: str) -> Expr:
    """An integer scalar as `index`. Reports anything else (PH104)."""
    if shape_of(expr):
        raise checker.error("PH206", f"{what} is a scalar, found {expr.type}", expr.span)
    if not dtype_of(expr).is_integer:
        help = "convert it with `i32(...)`" if dtype_of(expr).is_float else ""
        raise checker.error("PH104", f"{what} is an integer, found {expr.type}", expr.span, help)
    return converted(checker, expr, INDEX)
