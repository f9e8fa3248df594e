"""The dtype that mixed arithmetic has, and the conversions that are made without being written."""

from __future__ import annotations

from phobos_nb.dtypes import F32, I32, I64, INDEX, DType, Kind
from phobos_nb.language import numeric
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.registry import CallSite
from phobos_nb.language.typed import Constant, Convert, ElementRead, Expr, Fill, Tensor
from phobos_nb.language.types import ScalarType, TileType, Uniformity, ValueType
from phobos_nb.source import Span


def dtype_of(expr: Expr) -> DType:
    """The element type of a scalar or tile."""
    assert isinstance(expr.type, ScalarType | TileType)
    return expr.type.dtype


def shape_of(expr: Expr) -> tuple[int, ...]:
    """The shape of a tile, empty for a scalar."""
    return expr.type.shape if isinstance(expr.type, TileType) else ()


def with_shape(dtype: DType, shape: tuple[int, ...]) -> ValueType:
    """A tile type, or a scalar type for the empty shape."""
    return TileType(dtype, shape) if shape else ScalarType(dtype)


def constant(value: numeric.Number, dtype: DType, span: Span, literal: bool = False) -> Constant:
    """A scalar constant."""
    return Constant(type=ScalarType(dtype), span=span, value=value, literal=literal)


def index_constant(value: int, span: Span) -> Constant:
    """A constant of type `index`."""
    return constant(value, INDEX, span)


def _is_literal(expr: Expr) -> bool:
    return isinstance(expr, Constant) and expr.literal


def common_dtype(checker: Checker, left: Expr, right: Expr, span: Span) -> DType:
    """The dtype in which two operands meet (LANGUAGE section 2). Reports bool (PH115)."""
    a, b = dtype_of(left), dtype_of(right)
    if a == b:
        return a
    if Kind.BOOL in (a.kind, b.kind):
        raise checker.error(
            "PH115",
            f"a bool does not mix with {b if a.kind is Kind.BOOL else a}",
            span,
            "choose numbers with `where(condition, 1, 0)`, or compare first",
        )
    if a.is_float and b.is_float:
        return _float_with_float(left, right)
    if a.is_float:
        return _float_with_integer(left, right)
    if b.is_float:
        return _float_with_integer(right, left)
    return _integer_with_integer(left, right)


def _float_with_float(left: Expr, right: Expr) -> DType:
    a, b = dtype_of(left), dtype_of(right)
    if _is_literal(left):
        return b
    if _is_literal(right):
        return a
    if a.bits == b.bits:
        return F32
    return a if a.bits > b.bits else b


def _float_with_integer(number: Expr, integer: Expr) -> DType:
    dtype = dtype_of(number)
    return F32 if dtype.bits == 16 and not _is_literal(integer) else dtype


def _integer_with_integer(left: Expr, right: Expr) -> DType:
    a, b = dtype_of(left), dtype_of(right)
    if INDEX not in (a, b):
        if a.bits == b.bits:
            return I32
        return a if a.bits > b.bits else b
    index, other = (left, right) if a == INDEX else (right, left)
    if isinstance(index, Constant) and (index.literal or not isinstance(other, Constant)):
        return dtype_of(other)
    if isinstance(other, Constant) and not isinstance(index, Constant):
        return INDEX
    return I64 if dtype_of(other) == I64 else INDEX


def converted(checker: Checker, expr: Expr, dtype: DType) -> Expr:
    """The expression in `dtype`; constants convert now, and one that does not fit is PH105."""
    if isinstance(expr, Constant):
        return _converted_constant(checker, expr, dtype)
    if dtype_of(expr) == dtype:
        return expr
    kind = with_shape(dtype, shape_of(expr))
    return Convert(type=kind, span=expr.span, uniformity=expr.uniformity, operand=expr)


def _converted_constant(checker: Checker, expr: Constant, dtype: DType) -> Constant:
    if dtype_of(expr) == dtype and not expr.literal:
        return expr
    if not numeric.fits(expr.value, dtype):
        raise checker.error(
            "PH105", f"{_shown(expr)} does not fit {dtype}", expr.span, _range_help(dtype)
        )
    return constant(numeric.convert(expr.value, dtype), dtype, expr.span)


def _shown(expr: Constant) -> str:
    value = expr.value
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _range_help(dtype: DType) -> str:
    if dtype.is_float:
        largest = numeric.LARGEST.get(dtype.name)
        return f"the largest {dtype} is {largest:g}" if largest else ""
    if dtype.kind is Kind.BOOL:
        return ""
    low, high = numeric.integer_range(dtype)
    return f"{dtype} holds integers from {low} to {high}; a conversion such as `{dtype}(x)` truncates"


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
    a, b = shape_of(left), shape_of(right)
    rank = max(len(a), len(b))
    long_a, long_b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    if all(m == n or 1 in (m, n) for m, n in zip(long_a, long_b, strict=True)):
        return tuple(n if m == 1 else m for m, n in zip(long_a, long_b, strict=True))
    m, n = next(p for p in zip(long_a, long_b, strict=True) if p[0] != p[1] and 1 not in p)
    message = f"{left.type} and {right.type} do not stretch to one shape"
    help = (
        f"give both {m} or both {n} elements along that axis, or 1 to one of them; "
        "axes align from the right, and only an extent of 1 stretches"
    )
    raise checker.error("PH201", message, span, help)


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
