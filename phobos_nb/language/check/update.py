"""Assignments and stores."""

from __future__ import annotations

from dataclasses import replace

from phobos_nb.dtypes import DType
from phobos_nb.language.check import operators
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.conversions import (
    assigned,
    expect_uniform,
    filled,
    shape_of,
    stored,
)
from phobos_nb.language.check.expressions import check_value
from phobos_nb.language.check.names import lookup
from phobos_nb.language.check.openness import open_axes
from phobos_nb.language.check.reads import element_read, tile_read
from phobos_nb.language.check.scope import Alias, Binding, View, WholeView
from phobos_nb.language.check.subscripts import check_subscripts, point_indices, resolve_base
from phobos_nb.language.check.whole import store_whole
from phobos_nb.language.stable import is_repeatable
from phobos_nb.language.suggest import did_you_mean
from phobos_nb.language.tree import Name, Subscripted, Update
from phobos_nb.language.typed import (
    Assign,
    Expr,
    Point,
    Region,
    SharedArray,
    Slice,
    StoreElement,
    StoreTile,
    Subscript,
    Tensor,
    Variable,
)
from phobos_nb.language.types import ScalarType, TileType, Uniformity


def check_update(checker: Checker, node: Update) -> None:
    """`target = value` or a compound assignment."""
    if isinstance(node.target, Name):
        _assign(checker, node, node.target)
    elif open_axes(checker, node.target):
        store_whole(checker, node, check_update)
    else:
        _store(checker, node, node.target)


def _assign(checker: Checker, node: Update, target: Name) -> None:
    if checker.scope.find(target.text) is None:
        help = did_you_mean(target.text, checker.scope.visible())
        help = help or f"declare it first: `var {target.text} = ...`"
        raise checker.error("PH101", f"`{target.text}` is not declared", target.span, help)
    variable = _variable(checker, target, lookup(checker, target))
    value = check_value(checker, node.value)
    if node.op:
        present = checker.read(variable, target.span)
        value = operators.binary(checker, node.op, present, value, node.span)
    what = f"`{target.text}`"
    value = assigned(checker, value, _dtype(variable), what)
    if isinstance(variable.type, TileType):
        checker.require_together(Uniformity.CTA, "a tile operation", node.span)
        value = filled(checker, value, variable.type.shape, what)
    elif shape_of(value):
        raise checker.error("PH206", f"{what} is a scalar, found {value.type}", value.span)
    checker.flow.assign(variable, value.uniformity)
    checker.emit(Assign(variable=variable, value=value, declares=False, span=node.span))


def _dtype(variable: Variable) -> DType:
    assert isinstance(variable.type, ScalarType | TileType)
    return variable.type.dtype


def _variable(checker: Checker, target: Name, binding: Binding) -> Variable:
    if isinstance(binding, Variable) and binding.mutable:
        return binding
    name = target.text
    match binding:
        case Variable():
            what, help = "read-only", f"declare it with `var {name} = ...`"
        case View() | WholeView():
            what, help = "a view", "store to the slice of the tensor itself"
        case Tensor() | SharedArray():
            what, help = "not assigned as a whole", f"store to a part of it: `{name}[...] = ...`"
        case Alias(what=kind):
            what, help = kind, f"copy it first: `var {name}_ = {name}`"
        case _:
            what, help = "a type", ""
    raise checker.error("PH103", f"`{name}` is {what} and cannot be assigned to", target.span, help)


def _store(checker: Checker, node: Update, target: Subscripted) -> None:
    base = resolve_base(checker, target)
    subscripts = check_subscripts(checker, base, target)
    if node.op:
        subscripts = tuple(_repeatable(checker, s) for s in subscripts)
    value = check_value(checker, node.value)
    if all(isinstance(s, Point) for s in subscripts):
        _store_element(checker, node, base, point_indices(subscripts), value)
    else:
        assert isinstance(base, Tensor)
        _store_tile(checker, node, Region(base, subscripts, target.span), value)


def _repeatable(checker: Checker, subscript: Subscript) -> Subscript:
    """A subscript of a compound store is evaluated once though it is used twice."""
    if isinstance(subscript, Point):
        return Point(_kept(checker, subscript.index))
    stop = subscript.stop
    return replace(subscript, start=_kept(checker, subscript.start), stop=stop and _kept(checker, stop))


def _kept(checker: Checker, expr: Expr) -> Expr:
    return expr if is_repeatable(expr) else checker.hidden(expr, "position")


def _store_element(
    checker: Checker,
    node: Update,
    base: Tensor | SharedArray,
    indices: tuple[Expr, ...],
    value: Expr,
) -> None:
    if shape_of(value):
        help = "store a tile to a slice: `A[i :+ n] = tile`"
        message = f"an element of `{base.name}` is a scalar, found {value.type}"
        raise checker.error("PH206", message, value.span, help)
    uniform = max(checker.flow.level, operators.joined(value, *indices)) is Uniformity.CTA
    _warn_race(checker, node, base, indices, value)
    if node.op:
        present = element_read(checker, base, indices, node.target.span)
        value = operators.binary(checker, node.op, present, value, node.span)
    value = stored(checker, value, base.type.dtype, f"an element of `{base.name}`")
    checker.emit(StoreElement(base=base, indices=indices, value=value, once=uniform, span=node.span))


def _warn_race(
    checker: Checker, node: Update, base: Tensor | SharedArray, indices: tuple[Expr, ...], value: Expr
) -> None:
    """Several threads that store different values to one address race (PH305)."""
    place = operators.joined(*indices)
    spread = max(place, value.uniformity if not node.op else checker.flow.level)
    if checker.flow.level is Uniformity.CTA and place < Uniformity.LANE and spread > place:
        checker.diagnostics.warn(
            "PH305",
            f"threads with different values store to one element of `{base.name}`",
            node.span,
            help="index it by thread, guard it with a condition, or use an atomic",
        )


def _store_tile(checker: Checker, node: Update, region: Region, value: Expr) -> None:
    checker.require_together(Uniformity.CTA, "a tile operation", node.span)
    what = f"the slice of `{region.tensor.name}`"
    if node.op:
        present = tile_read(region, None, region.span)
        value = operators.binary(checker, node.op, present, value, node.span)
    expect_uniform(checker, value, "a tile operation")
    value = stored(checker, value, region.tensor.type.dtype, what)
    if shape_of(value):
        region = _with_rank(region, len(shape_of(value)))
        value = filled(checker, value, region.shape, what)
    checker.emit(StoreTile(region=region, value=value, span=node.span))


def _with_rank(region: Region, rank: int) -> Region:
    """A row of a matrix, `A[i, j :+ n]`, takes a [1, n] tile: its points become slices of one."""
    subscripts = list(region.subscripts)
    for axis in reversed(range(len(subscripts))):
        subscript = subscripts[axis]
        if len(Region(region.tensor, tuple(subscripts), region.span).shape) >= rank:
            break
        if isinstance(subscript, Point):
            subscripts[axis] = Slice(subscript.index, 1)
    return Region(region.tensor, tuple(subscripts), region.span)
