"""Subscripts: points, slices and regions of tensors, elements of shared arrays."""

from __future__ import annotations

from phobos_nb.dtypes import INDEX
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.conversions import expect_uniform, index_constant
from phobos_nb.language.check.expressions import check_scalar
from phobos_nb.language.check.names import lookup, whole_extent
from phobos_nb.language.check.operators import as_index
from phobos_nb.language.check.reads import element_read, tile_read
from phobos_nb.language.check.scope import View, WholeView
from phobos_nb.language.linear import linear
from phobos_nb.language.suggest import did_you_mean
from phobos_nb.language.tree import Along, At, Between, Expression, Subscript, Subscripted
from phobos_nb.language.typed import (
    Constant,
    Expr,
    Extent,
    Point,
    Region,
    SharedArray,
    Slice,
    Tensor,
)
from phobos_nb.language.typed import Subscript as TypedSubscript
from phobos_nb.language.types import ScalarType, TileType
from phobos_nb.source import Span


def check_subscripted(checker: Checker, node: Subscripted) -> Expr:
    """A read of a tile or an element, now."""
    base = resolve_base(checker, node)
    subscripts = check_subscripts(checker, base, node)
    if all(isinstance(s, Point) for s in subscripts):
        return element_read(checker, base, point_indices(subscripts), node.span)
    assert isinstance(base, Tensor)
    return tile_read(Region(base, subscripts, node.span), None, node.span)


def resolve_base(checker: Checker, node: Subscripted) -> Tensor | SharedArray:
    """What is subscripted: a tensor or a shared array."""
    binding = lookup(checker, node.base)
    if isinstance(binding, Tensor | SharedArray):
        return binding
    name = node.base.text
    what = "a view" if isinstance(binding, View | WholeView) else "not a tensor or shared array"
    help = "subscript the tensor instead" if isinstance(binding, View | WholeView) else ""
    kind = getattr(binding, "type", None)
    if isinstance(kind, TileType):
        what = "a tile"
        help = "tiles are used whole: read elements from the tensor, or use a shared array"
    tensors = [n for n in checker.scope.visible() if isinstance(checker.scope.find(n), Tensor)]
    help = help or did_you_mean(name, tensors)
    raise checker.error("PH205", f"`{name}` is {what} and cannot be subscripted", node.base.span, help)


def point_indices(subscripts: tuple[TypedSubscript, ...]) -> tuple[Expr, ...]:
    """The indices of subscripts that are all points."""
    return tuple(s.index for s in subscripts if isinstance(s, Point))


def check_subscripts(
    checker: Checker, base: Tensor | SharedArray, node: Subscripted
) -> tuple[TypedSubscript, ...]:
    """One typed subscript per axis. Reports their number (PH202), kind and lengths."""
    dims = base.type.dims if isinstance(base, Tensor) else base.type.shape
    if len(node.subscripts) != len(dims):
        wanted = _count(len(dims), "axis", "axes")
        found = _count(len(node.subscripts), "subscript", "subscripts")
        message = f"`{base.name}` has {wanted}, found {found}"
        raise checker.error("PH202", message, node.span, f"its type is {base.type}")
    pairs = zip(node.subscripts, dims, strict=True)
    subscripts = tuple(_check_subscript(checker, s, dim) for s, dim in pairs)
    slices = [(s, n) for s, n in zip(subscripts, node.subscripts, strict=True) if isinstance(s, Slice)]
    for subscript, written in slices:
        if isinstance(base, SharedArray):
            message = f"`{base.name}` is a shared array: its elements are read and written one by one"
            raise checker.error("PH205", message, written.span, "subscript it with one index per axis")
        expect_uniform(checker, subscript.start, "a slice")
    if slices:
        for subscript in subscripts:
            if isinstance(subscript, Point):
                expect_uniform(checker, subscript.index, "a slice")
    return subscripts


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _check_subscript(checker: Checker, node: Subscript, dim: int | str) -> TypedSubscript:
    match node:
        case At(index=index):
            return Point(_index(checker, index))
        case Along():
            return _along(checker, node)
        case Between():
            return _between(checker, node, dim)


def _index(checker: Checker, node: Expression) -> Expr:
    return as_index(checker, check_scalar(checker, node, "a subscript"), "a subscript")


def _along(checker: Checker, node: Along) -> Slice:
    start = _index(checker, node.start)
    length = as_index(checker, check_scalar(checker, node.length, "a slice length"), "a slice length")
    if not isinstance(length, Constant):
        raise checker.error(
            "PH203",
            "the length of a slice is a constant, but this one is known only at run time",
            length.span,
            "take a constant length; `start :+ n until end` cuts it off at a run-time position",
        )
    stop = _index(checker, node.until) if node.until is not None else None
    if stop is not None:
        expect_uniform(checker, stop, "a slice")
    return Slice(start, _length(checker, int(length.value), length.span), stop, node.whole)


def _length(checker: Checker, length: int, span: Span) -> int:
    if length < 1:
        message = f"a slice has at least one element, found length {length}"
        raise checker.error("PH203", message, span, "`start : end` ends before `end`")
    return length


def _between(checker: Checker, node: Between, dim: int | str) -> Slice:
    start = _index(checker, node.start) if node.start is not None else index_constant(0, node.span)
    if node.stop is None and isinstance(dim, str):
        if node.start is None or _is_zero(start):
            raise whole_extent(checker, node, dim)
        stop: Expr = Extent(type=ScalarType(INDEX), span=node.span, symbol=dim)
    elif node.stop is None:
        stop = index_constant(int(dim), node.span)
    else:
        stop = _index(checker, node.stop)
    difference = linear(stop, checker.definitions).plus(linear(start, checker.definitions), -1)
    if difference.terms:
        raise checker.error(
            "PH203",
            "the length of a slice is a constant, but the ends of this one differ by a run-time value",
            node.span,
            "write `start :+ length` with a constant length; `until` cuts it off at a run-time position",
        )
    return Slice(start, _length(checker, difference.constant, node.span))


def _is_zero(expr: Expr) -> bool:
    return isinstance(expr, Constant) and expr.value == 0
