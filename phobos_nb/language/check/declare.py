"""`let` and `var`: views, copies, scalars, tiles and shared arrays."""

from __future__ import annotations

from dataclasses import replace

from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.conversions import assigned, constant, converted, dtype_of, filled
from phobos_nb.language.check.expressions import check_value
from phobos_nb.language.check.openness import open_axes
from phobos_nb.language.check.resolve import resolve_local
from phobos_nb.language.check.scope import Alias, View, WholeView
from phobos_nb.language.check.whole import whole_view
from phobos_nb.language.stable import is_stable
from phobos_nb.language.tree import CallExpression, Declare, Expression, Name, Subscripted
from phobos_nb.language.typed import (
    Constant,
    Expr,
    Point,
    Region,
    SharedArray,
    Subscript,
    TileRead,
)
from phobos_nb.language.types import ScalarType, SharedType, TileType


def check_declare(checker: Checker, node: Declare) -> None:
    """One declaration."""
    kind = resolve_local(checker, node.type) if node.type is not None else None
    if isinstance(kind, SharedType):
        _declare_shared(checker, node, kind)
    elif node.value is None:
        _declare_zero(checker, node, kind)
    elif kind is None:
        _declare_inferred(checker, node, node.value)
    else:
        _bind(checker, node, as_declared(checker, node.value, kind, f"`{node.name.text}`"))


def _declare_shared(checker: Checker, node: Declare, kind: SharedType) -> None:
    if node.value is not None:
        help = "store to its elements, then call `barrier()`"
        raise checker.error("PH104", "a shared array has no initial value", node.value.span, help)
    array = SharedArray(node.name.text, kind, node.name.span)
    checker.shared.append(array)
    checker.declare(node.name.text, array, node.name.span)


def _declare_zero(checker: Checker, node: Declare, kind: ScalarType | TileType | None) -> None:
    """A `var` with a type and no value starts at zero."""
    if kind is None or not node.mutable:
        wanted = "a value" if node.type is not None else "a type or a value"
        message = f"`{node.name.text}` needs {wanted}"
        raise checker.error("PH104", message, node.name.span, f"write `{node.name.text} = ...`")
    zero = constant(0 if dtype_zero_is_number(kind) else False, kind.dtype, node.name.span)
    zero = converted(checker, zero, kind.dtype)
    _bind(checker, node, filled(checker, zero, kind.shape if isinstance(kind, TileType) else (), ""))


def dtype_zero_is_number(kind: ScalarType | TileType) -> bool:
    """Whether the zero of the type is a number rather than `false`."""
    return kind.dtype.is_float or kind.dtype.is_integer


def as_declared(checker: Checker, node: Expression, kind: ScalarType | TileType, what: str) -> Expr:
    """A value as a variable of a written type holds it: converted, and stretched to its shape."""
    value = check_value(checker, node)
    value = assigned(checker, value, kind.dtype, what)
    if isinstance(kind, TileType):
        return filled(checker, value, kind.shape, what)
    if isinstance(value.type, TileType):
        raise checker.error("PH206", f"{what} is declared {kind}, found {value.type}", value.span)
    return value


def _declare_inferred(checker: Checker, node: Declare, written: Expression) -> None:
    name = node.name.text
    view = checker.scope.find(written.text) if isinstance(written, Name) else None
    if isinstance(view, View) and not node.mutable:
        checker.declare(name, view, node.name.span)
        return
    viewed = not node.mutable and (_is_slice(written) or isinstance(view, WholeView))
    if viewed and open_axes(checker, written):
        checker.declare(name, whole_view(checker, written), node.name.span)
        return
    value = check_value(checker, written)
    if not node.mutable and isinstance(value, TileRead) and _is_slice(written):
        checker.declare(name, _view(checker, value, name), node.name.span)
        return
    _bind(checker, node, converted(checker, value, dtype_of(value)))


def _is_slice(written: Expression) -> bool:
    """Whether the text is a slice or a padded slice, of which a `let` is a view."""
    if isinstance(written, CallExpression):
        return written.callee.text == "pad"
    return isinstance(written, Subscripted)


def _bind(checker: Checker, node: Declare, value: Expr) -> None:
    name = node.name.text
    if isinstance(value, Constant) and not node.mutable:
        checker.declare(name, Alias(value, "a constant"), node.name.span)
        return
    variable = checker.variable(name, value, node.mutable, node.span)
    checker.declare(name, variable, node.name.span)


def _view(checker: Checker, read: TileRead, name: str) -> View:
    """The slice with its run-time positions evaluated now."""
    region = read.region
    subscripts = tuple(_kept(checker, s, f"{name}'s start") for s in region.subscripts)
    pad = None if read.pad is None else _kept_value(checker, read.pad, f"{name}'s pad")
    return View(Region(region.tensor, subscripts, region.span), pad)


def _kept(checker: Checker, subscript: Subscript, name: str) -> Subscript:
    if isinstance(subscript, Point):
        return Point(_kept_value(checker, subscript.index, name))
    stop = subscript.stop
    kept_stop = None if stop is None else _kept_value(checker, stop, name)
    return replace(subscript, start=_kept_value(checker, subscript.start, name), stop=kept_stop)


def _kept_value(checker: Checker, expr: Expr, name: str) -> Expr:
    return expr if is_stable(expr) else checker.hidden(expr, name)
