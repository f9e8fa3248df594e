"""The dtype that mixed arithmetic has, and the conversions that are made without being written."""

from __future__ import annotations

from phobos_nb.dtypes import INDEX, DType, Kind
from phobos_nb.language import numeric, promotion
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.promotion import dtype_of as dtype_of
from phobos_nb.language.promotion import shape_of as shape_of
from phobos_nb.language.promotion import with_shape as with_shape
from phobos_nb.language.registry import CallSite
from phobos_nb.language.typed import Constant, ElementRead, Expr, Fill, Tensor
from phobos_nb.language.types import ScalarType, TileType, Uniformity
from phobos_nb.source import Span


def constant(value: numeric.Number, dtype: DType, span: Span, literal: bool = False) -> Constant:
    """A scalar constant."""
    return Constant(type=ScalarType(dtype), span=span, value=value, literal=literal)


def index_constant(value: int, span: Span) -> Constant:
    """A constant of type `index`."""
    return constant(value, INDEX, span)


def common_dtype(checker: Checker, left: Expr, right: Expr, span: Span) -> DType:
    """The dtype in which two operands meet, see `promotion.common_dtype`."""
    return promotion.common_dtype((left, right), span, checker.diagnostics)


def converted(checker: Checker, expr: Expr, dtype: DType) -> Expr:
    """The expression in `dtype`; constants convert now, and one that does not fit is PH105."""
    return promotion.converted(expr, dtype, checker.diagnostics)


def assigned(checker: Checker, expr: Expr, dtype: DType, what: str) -> Expr:
    """The expression as it is kept by a variable or parameter of `dtype`.

    Floats round, integers wrap and become floats; a float becomes an integer only by a call, and
    bool stays apart (PH104).
    """
    source = dtype_of(expr)
    drops = source.is_float and dtype.is_integer
    bool_apart = (source.kind is Kind.BOOL) != (dtype.kind is Kind.BOOL)
    if drops or bool_apart:
        help = f"convert it with `{dtype}(...)`" if drops else "compare it, for example with `!= 0`"
        if source.kind is Kind.BOOL:
            help = "choose numbers with `where(condition, 1, 0)`"
        raise checker.error("PH104", f"{what} is {dtype}, found {expr.type}", expr.span, help)
    return converted(checker, expr, dtype)


def stored(checker: Checker, expr: Expr, dtype: DType, what: str) -> Expr:
    """The expression as a store converts it: any number to any number, bool apart."""
    source = dtype_of(expr)
    if isinstance(expr, Constant) and not expr.literal and source.kind is not Kind.BOOL:
        return constant(numeric.convert(expr.value, dtype), dtype, expr.span)
    if source.is_float and dtype.is_integer and not isinstance(expr, Constant):
        return converted(checker, expr, dtype)
    return assigned(checker, expr, dtype, what)


def stretched(checker: Checker, left: Expr, right: Expr, span: Span) -> tuple[int, ...]:
    """The shape that two operands stretch to, as in NumPy. Reports PH201."""
    return promotion.stretched((left, right), span, checker.diagnostics)


def filled(checker: Checker, expr: Expr, shape: tuple[int, ...], what: str) -> Expr:
    """A scalar or tile stretched to exactly `shape`. Reports PH201 and per-thread scalars (PH303)."""
    if len(shape) == 1 and len(shape_of(expr)) == 2 and shape_of(expr)[0] == 1:
        expr = _flat(checker, expr)
    own = shape_of(expr)
    if own == shape:
        return expr
    rank = len(shape)
    padded = (1,) * (rank - len(own)) + own
    if len(own) > rank or any(m not in (1, n) for m, n in zip(padded, shape, strict=True)):
        wanted = ", ".join(map(str, shape))
        message = f"{what} has the shape [{wanted}], found {expr.type}"
        raise checker.error("PH201", message, expr.span, _shape_help(own, shape))
    if not own:
        expect_uniform(checker, expr, "filling a tile")
    return Fill(type=TileType(dtype_of(expr), shape), span=expr.span, operand=expr)


def _flat(checker: Checker, row: Expr) -> Expr:
    """A [1, n] tile where a rank-1 tile is wanted."""
    site = CallSite("flat", (row,), row.span, checker.diagnostics, checker.constants)
    return checker.builtins["flat"].check(site)


def expect_uniform(checker: Checker, expr: Expr, what: str) -> None:
    """Report a scalar that differs between threads where the CTA needs one value (PH303)."""
    if isinstance(expr.type, ScalarType) and expr.uniformity > Uniformity.CTA:
        raise checker.error(
            "PH303",
            f"{what} needs a scalar that the whole CTA shares, but this differs between threads",
            expr.span,
            _uniform_help(expr, what),
        )


def _uniform_help(expr: Expr, what: str) -> str:
    if isinstance(expr, ElementRead) and isinstance(expr.base, Tensor):
        name = expr.base.name
        return f"the kernel may write `{name}`: read a tile of one element, `{name}[... :+ 1]`"
    if what == "a slice":
        return "start at a place of the whole CTA such as `ctx.block.x * n`, or read elements: `A[i]`"
    return "`block_sum`, `block_max` and `block_min` give every thread the same value"


def _shape_help(own: tuple[int, ...], shape: tuple[int, ...]) -> str:
    if len(own) == 2 and own[1] == 1 and shape == own[:1]:
        return "`flat(t)` makes a column a rank-1 tile"
    if own == shape[::-1]:
        return "`transpose(t)` exchanges rows and columns"
    return ""
