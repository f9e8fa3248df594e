"""Operands of several types: the dtype in which they meet, their conversions, the shape they stretch to.

For operators and built-ins alike. Codes: PH105 a constant that does not fit, PH115 bool among numbers,
PH201 shapes that do not stretch to each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.dtypes import F32, I32, I64, INDEX, DType, Kind
from phobos_nb.language import numeric
from phobos_nb.language.typed import Constant, Convert, Expr
from phobos_nb.language.types import ScalarType, TileType, ValueType
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


@dataclass(frozen=True)
class _Operand:
    """What the rules look at: literals adapt to others, constants of type `index` to other integers."""

    dtype: DType
    literal: bool
    constant: bool


def common_dtype(operands: Sequence[Expr], span: Span, diagnostics: Diagnostics) -> DType:
    """The dtype in which operands meet, pair by pair (LANGUAGE section 2). Reports bool (PH115)."""

    def meet(a: _Operand, b: _Operand) -> _Operand:
        if a.dtype != b.dtype and Kind.BOOL in (a.dtype.kind, b.dtype.kind):
            raise diagnostics.error(
                "PH115",
                f"a bool does not mix with {b.dtype if a.dtype.kind is Kind.BOOL else a.dtype}",
                span,
                help="choose numbers with `where(condition, 1, 0)`, or compare first",
            )
        return _Operand(_meeting(a, b), a.literal and b.literal, a.constant and b.constant)

    return reduce(meet, map(_operand, operands)).dtype


def _operand(expr: Expr) -> _Operand:
    constant = isinstance(expr, Constant)
    return _Operand(dtype_of(expr), isinstance(expr, Constant) and expr.literal, constant)


def _meeting(a: _Operand, b: _Operand) -> DType:
    if a.dtype == b.dtype:
        return a.dtype
    if a.dtype.is_float and b.dtype.is_float:
        return _float_with_float(a, b)
    if a.dtype.is_float:
        return _float_with_integer(a, b)
    if b.dtype.is_float:
        return _float_with_integer(b, a)
    return _integer_with_integer(a, b)


def _float_with_float(a: _Operand, b: _Operand) -> DType:
    if a.literal:
        return b.dtype
    if b.literal:
        return a.dtype
    if a.dtype.bits == b.dtype.bits:
        return F32
    return a.dtype if a.dtype.bits > b.dtype.bits else b.dtype


def _float_with_integer(number: _Operand, integer: _Operand) -> DType:
    return F32 if number.dtype.bits == 16 and not integer.literal else number.dtype


def _integer_with_integer(a: _Operand, b: _Operand) -> DType:
    if INDEX not in (a.dtype, b.dtype):
        if a.dtype.bits == b.dtype.bits:
            return I32
        return a.dtype if a.dtype.bits > b.dtype.bits else b.dtype
    index, other = (a, b) if a.dtype == INDEX else (b, a)
    if index.constant and (index.literal or not other.constant):
        return other.dtype
    if other.constant and not index.constant:
        return INDEX
    return I64 if other.dtype == I64 else INDEX


def converted(expr: Expr, dtype: DType, diagnostics: Diagnostics) -> Expr:
    """The expression in `dtype`; constants convert now, and one that does not fit is PH105."""
    if isinstance(expr, Constant):
        return _converted_constant(expr, dtype, diagnostics)
    if dtype_of(expr) == dtype:
        return expr
    kind = with_shape(dtype, shape_of(expr))
    return Convert(type=kind, span=expr.span, uniformity=expr.uniformity, operand=expr)


def _converted_constant(expr: Constant, dtype: DType, diagnostics: Diagnostics) -> Constant:
    if dtype_of(expr) == dtype and not expr.literal:
        return expr
    if not numeric.fits(expr.value, dtype):
        raise diagnostics.error(
            "PH105", f"{_shown(expr)} does not fit {dtype}", expr.span, help=_range_help(dtype)
        )
    value = numeric.convert(expr.value, dtype)
    return Constant(type=ScalarType(dtype), span=expr.span, value=value, literal=False)


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


def stretched(operands: Sequence[Expr], span: Span, diagnostics: Diagnostics) -> tuple[int, ...]:
    """The shape that operands stretch to, as in NumPy. Reports PH201."""
    shapes = [shape_of(e) for e in operands]
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    for axis in zip(*padded, strict=True):
        extents = list(dict.fromkeys(n for n in axis if n != 1))
        if len(extents) > 1:
            *types, last = (str(e.type) for e in operands)
            m, n, *_ = extents
            every = "both" if len(operands) == 2 else "all"
            raise diagnostics.error(
                "PH201",
                f"{', '.join(types)} and {last} do not stretch to one shape",
                span,
                help=f"give {every} {m} or {every} {n} elements along that axis, or 1 to one of them; "
                "axes align from the right, and only an extent of 1 stretches",
            )
    return tuple(next((n for n in axis if n != 1), 1) for axis in zip(*padded, strict=True))
