"""Checks of a call's arguments and the conversions between them, shared by all families.

Codes: PH104 type of an argument, PH105 a literal does not fit, PH107 number of arguments, PH109 a
constant is wanted, PH201 shapes do not stretch to each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from phobos_nb.dtypes import F32, I32, I64, INDEX, DType, Kind
from phobos_nb.language import numeric
from phobos_nb.language.registry import CallSite
from phobos_nb.language.typed import Constant, Convert, Expr, Fill, SharedArray, Tensor
from phobos_nb.language.types import ScalarType, TileType, Uniformity, ValueType


def expect_count(site: CallSite, least: int, most: int | None = None) -> None:
    """Report a call with too few or too many arguments."""
    most = least if most is None else most
    found = len(site.arguments)
    if not least <= found <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        message = f"{site.name} takes {wanted} argument{'s' * (wanted != '1')}, found {found}"
        help = f"its form is `{site.signature}`" if site.signature else ""
        raise site.diagnostics.error("PH107", message, site.span, help=help)


def value(site: CallSite, position: int) -> Expr:
    """The argument at a position, which must be a scalar or a tile."""
    argument = site.arguments[position]
    if isinstance(argument, Expr) and isinstance(argument.type, ScalarType | TileType):
        return argument
    raise site.diagnostics.error(
        "PH104",
        f"{site.name} wants a scalar or a tile as argument {position + 1}, found {_kind(argument)}",
        argument.span,
        help="read it first, for example with a slice" if not isinstance(argument, Expr) else "",
    )


def tile(site: CallSite, position: int, rank: int | None = None) -> Expr:
    """The argument at a position, which must be a tile (of a given rank)."""
    argument = site.arguments[position]
    if not (isinstance(argument, Expr) and isinstance(argument.type, TileType)):
        raise site.diagnostics.error(
            "PH104",
            f"{site.name} wants a tile as argument {position + 1}, found {_kind(argument)}",
            argument.span,
        )
    if rank is not None and len(argument.type.shape) != rank:
        raise site.diagnostics.error(
            "PH104", f"{site.name} wants a rank-{rank} tile, found {argument.type}", argument.span
        )
    return argument


def rows(site: CallSite, position: int) -> Expr:
    """A rank-2 tile; a rank-1 tile counts as one row."""
    found = tile(site, position)
    shape = shape_of(found)
    if len(shape) == 1:
        kind = TileType(dtype_of(found), (1, shape[0]))
        return Fill(type=kind, span=found.span, uniformity=found.uniformity, operand=found)
    if len(shape) != 2:
        raise site.diagnostics.error(
            "PH104", f"{site.name} wants a rank-2 tile, found {found.type}", found.span
        )
    return found


def scalar(site: CallSite, position: int) -> Expr:
    """The argument at a position, which must be a scalar."""
    argument = site.arguments[position]
    if isinstance(argument, Expr) and isinstance(argument.type, ScalarType):
        return argument
    raise site.diagnostics.error(
        "PH104",
        f"{site.name} wants a scalar as argument {position + 1}, found {_kind(argument)}",
        argument.span,
    )


def tensor(site: CallSite, position: int) -> Tensor:
    """The argument at a position, which must be a tensor parameter."""
    argument = site.arguments[position]
    if isinstance(argument, Tensor):
        return argument
    raise site.diagnostics.error(
        "PH104",
        f"{site.name} wants a tensor parameter as argument {position + 1}, found {_kind(argument)}",
        argument.span,
    )


def constant_int(site: CallSite, position: int) -> int:
    """The argument at a position, which must be an integer known when compiling."""
    argument = site.arguments[position]
    if (
        isinstance(argument, Constant)
        and isinstance(argument.value, int)
        and not isinstance(argument.value, bool)
    ):
        return argument.value
    raise site.diagnostics.error(
        "PH109",
        f"{site.name} wants a compile-time integer as argument {position + 1}, found {_kind(argument)}",
        argument.span,
    )


def dtype_of(expr: Expr) -> DType:
    """The element type of a scalar or tile expression."""
    assert isinstance(expr.type, ScalarType | TileType)
    return expr.type.dtype


def shape_of(expr: Expr) -> tuple[int, ...]:
    """The shape of a tile; of a scalar the empty shape."""
    return expr.type.shape if isinstance(expr.type, TileType) else ()


def is_tile(expr: Expr) -> bool:
    """Whether the expression is a tile."""
    return isinstance(expr.type, TileType)


def joined(exprs: Sequence[Expr]) -> Uniformity:
    """The uniformity of a value computed from all of these."""
    return max((e.uniformity for e in exprs), default=Uniformity.CTA)


def value_type(dtype: DType, shape: tuple[int, ...]) -> ValueType:
    """A tile type, or a scalar type for the empty shape."""
    return TileType(dtype, shape) if shape else ScalarType(dtype)


def wanted_dtype(site: CallSite, expr: Expr, wanted: str) -> DType:
    """The expression's dtype, reporting one that is not among `wanted`: float, integer, number."""
    dtype = dtype_of(expr)
    fits = {
        "float": dtype.is_float,
        "integer": dtype.is_integer,
        "number": dtype.is_float or dtype.is_integer,
        "bool": dtype.kind is Kind.BOOL,
    }
    if not fits[wanted]:
        nouns = {"float": "a float", "integer": "an integer", "number": "a number", "bool": "bool"}
        advice = {
            "float": "convert it with f32(...)",
            "integer": "convert it with i32(...)",
            "number": "choose numbers with where(condition, 1, 0)",
            "bool": "compare it, for example with != 0",
        }
        message = f"{site.name} wants elements of {nouns[wanted]} type, found {expr.type}"
        raise site.diagnostics.error("PH104", message, expr.span, help=advice[wanted])
    return dtype


def converted(site: CallSite, expr: Expr, dtype: DType) -> Expr:
    """The expression as `dtype`; constants convert when compiling, one that does not fit is PH105."""
    if isinstance(expr, Constant):
        return _converted_constant(site, expr, dtype)
    if dtype_of(expr) == dtype:
        return expr
    kind = value_type(dtype, shape_of(expr))
    return Convert(type=kind, span=expr.span, uniformity=expr.uniformity, operand=expr)


def _converted_constant(site: CallSite, expr: Constant, dtype: DType) -> Constant:
    if dtype_of(expr) != dtype and not numeric.fits(expr.value, dtype):
        shown = f"{expr.value:g}" if isinstance(expr.value, float) else str(expr.value)
        raise site.diagnostics.error("PH105", f"{shown} does not fit {dtype}", expr.span)
    value = numeric.convert(expr.value, dtype)
    return Constant(type=ScalarType(dtype), span=expr.span, value=value)


def common(site: CallSite, exprs: Sequence[Expr]) -> list[Expr]:
    """The expressions converted to their common dtype, by LANGUAGE section 2.

    Literals adapt to the others, and constants of type `index` to other integers.
    """
    firm = [e for e in exprs if not _is_literal(e)] or list(exprs)
    variables = [e for e in firm if not (isinstance(e, Constant) and dtype_of(e) == INDEX)]
    if any(dtype_of(e).is_integer for e in variables):
        firm = variables
    dtype = dtype_of(firm[0])
    for other in firm[1:]:
        dtype = wider(site, dtype, dtype_of(other))
    if dtype.is_integer:
        floats = [dtype_of(e) for e in exprs if dtype_of(e).is_float]
        dtype = floats[0] if floats else dtype
    return [converted(site, e, dtype) for e in exprs]


def _is_literal(expr: Expr) -> bool:
    return isinstance(expr, Constant) and expr.literal


def wider(site: CallSite, left: DType, right: DType) -> DType:
    """The dtype that mixed arithmetic of two non-literal operands yields."""
    if left == right:
        return left
    if Kind.BOOL in (left.kind, right.kind):
        raise site.diagnostics.error(
            "PH104", f"{site.name} cannot mix {left} with {right}", site.span, help="convert one of them"
        )
    if left.is_float and right.is_float:
        return F32 if left.bits == right.bits else max(left, right, key=_bits)
    if left.is_float or right.is_float:
        dtype = left if left.is_float else right
        return F32 if dtype.bits == 16 else dtype
    if left.bits == right.bits == 8:
        return I32
    if INDEX in (left, right):
        return I64 if I64 in (left, right) else INDEX
    return max(left, right, key=_bits)


def _bits(dtype: DType) -> int:
    return dtype.bits


def stretched(site: CallSite, exprs: Sequence[Expr]) -> tuple[int, ...]:
    """The shape that the operands stretch to, as in NumPy; reports shapes that do not agree."""
    shapes = [shape_of(e) for e in exprs]
    rank = max(len(s) for s in shapes)
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    out = tuple(max(axis, key=_unless_one) for axis in zip(*padded, strict=True))
    for expr, shape in zip(exprs, padded, strict=True):
        if any(n not in (1, m) for n, m in zip(shape, out, strict=True)):
            others = ", ".join(str(e.type) for e in exprs)
            raise site.diagnostics.error(
                "PH201", f"{site.name} cannot stretch {others} to one shape", expr.span
            )
    return out


def _unless_one(extent: int) -> int:
    return -1 if extent == 1 else extent


def _kind(argument: Expr | Tensor | SharedArray) -> str:
    if isinstance(argument, Tensor):
        return f"the tensor {argument.name}"
    if isinstance(argument, SharedArray):
        return f"the shared array {argument.name}"
    return str(argument.type)
