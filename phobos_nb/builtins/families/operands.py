"""Checks of a call's arguments and the conversions between them, shared by all families.

Codes: PH104 type of an argument, PH105 a literal does not fit, PH107 number of arguments, PH109 a
constant is wanted, PH201 shapes do not stretch to each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from phobos_nb.dtypes import DType, Kind
from phobos_nb.language import promotion
from phobos_nb.language.promotion import dtype_of as dtype_of
from phobos_nb.language.promotion import shape_of as shape_of
from phobos_nb.language.promotion import with_shape as with_shape
from phobos_nb.language.registry import CallSite
from phobos_nb.language.typed import Constant, Expr, Fill, SharedArray, Tensor
from phobos_nb.language.types import ScalarType, TileType, Uniformity


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


def tensor(site: CallSite, position: int, instead: str = "") -> Tensor:
    """The argument at a position, which must be a tensor parameter.

    instead: what to do with a shared array, for the help.
    """
    argument = site.arguments[position]
    if isinstance(argument, Tensor):
        return argument
    raise site.diagnostics.error(
        "PH104",
        f"{site.name} wants a tensor parameter as argument {position + 1}, found {_kind(argument)}",
        argument.span if site.span.covers(argument.span) else site.span,  # an array's is its declaration
        help=instead if isinstance(argument, SharedArray) else f"name a tensor: `{site.name}(A, ...)`",
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


def is_tile(expr: Expr) -> bool:
    """Whether the expression is a tile."""
    return isinstance(expr.type, TileType)


def joined(exprs: Sequence[Expr]) -> Uniformity:
    """The uniformity of a value computed from all of these."""
    return max((e.uniformity for e in exprs), default=Uniformity.CTA)


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
    return promotion.converted(expr, dtype, site.diagnostics)


def common(site: CallSite, exprs: Sequence[Expr]) -> list[Expr]:
    """The expressions converted to their common dtype, as operators do it."""
    dtype = promotion.common_dtype(exprs, site.span, site.diagnostics)
    return [converted(site, e, dtype) for e in exprs]


def stretched(site: CallSite, exprs: Sequence[Expr]) -> tuple[int, ...]:
    """The shape that the operands stretch to, as in NumPy; reports shapes that do not agree."""
    return promotion.stretched(exprs, site.span, site.diagnostics)


def _kind(argument: Expr | Tensor | SharedArray) -> str:
    if isinstance(argument, Tensor):
        return f"the tensor {argument.name}"
    if isinstance(argument, SharedArray):
        return f"the shared array {argument.name}"
    return str(argument.type)
