"""Which axes of an expression run over a whole run-time extent (`:` on a symbol)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from phobos_nb.dtypes import SCALARS, DType
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.scope import WholeView
from phobos_nb.language.tree import (
    At,
    Between,
    CallExpression,
    Expression,
    Infix,
    Name,
    Prefix,
    Subscripted,
)
from phobos_nb.language.typed import Tensor
from phobos_nb.source import Span

Open = Mapping[int, str]
"""Axis counted from the right (-1 is the last) -> the symbol of its extent."""

CLOSING = {
    "rowsum": -1,
    "rowmax": -1,
    "rowmin": -1,
    "colsum": -2,
    "colmax": -2,
    "colmin": -2,
}
"""Reductions that walk an open axis in chunks, with that axis."""


def open_axes(checker: Checker, node: Expression) -> Open:
    """The open axes of an expression. Reports operations that cannot walk one (PH207)."""
    match node:
        case Name():
            binding = checker.scope.find(node.text)
            return open_axes(checker, binding.node) if isinstance(binding, WholeView) else {}
        case Subscripted():
            return {axis: symbol for axis, symbol, _ in open_subscripts(checker, node)}
        case Prefix(operand=operand):
            return open_axes(checker, operand)
        case Infix(left=left, right=right):
            return _merged(checker, (left, right), node.span)
        case CallExpression():
            return _of_call(checker, node)
        case _:
            return {}


def open_subscripts(checker: Checker, node: Subscripted) -> Iterator[tuple[int, str, int]]:
    """Every `:` of a run-time extent: its axis in the tile, its symbol, its axis in the tensor."""
    tensor = checker.scope.find(node.base.text)
    if not isinstance(tensor, Tensor) or len(tensor.type.dims) != len(node.subscripts):
        return
    axis = -sum(not isinstance(s, At) for s in node.subscripts)
    for place, (subscript, dim) in enumerate(zip(node.subscripts, tensor.type.dims, strict=True)):
        if isinstance(subscript, At):
            continue
        if is_whole(subscript) and isinstance(dim, str):
            yield axis, dim, place
        axis += 1


def is_whole(subscript: object) -> bool:
    """Whether a subscript is `:` alone."""
    return isinstance(subscript, Between) and subscript.start is None and subscript.stop is None


def _merged(checker: Checker, nodes: tuple[Expression, ...], span: Span) -> Open:
    found: dict[int, str] = {}
    for node in nodes:
        for axis, symbol in open_axes(checker, node).items():
            if found.setdefault(axis, symbol) != symbol:
                message = f"an axis of `{found[axis]}` elements meets one of `{symbol}`"
                raise checker.error("PH201", message, span)
    return found


def _of_call(checker: Checker, node: CallExpression) -> Open:
    name = node.callee.text
    axes = _merged(checker, node.arguments, node.span)
    if not axes or _is_elementwise(checker, name):
        return axes
    if is_builtin(checker, name) and name in CLOSING:
        return {axis: symbol for axis, symbol in axes.items() if axis != CLOSING[name]}
    if is_builtin(checker, name) and name == "transpose":
        return {-3 - axis: symbol for axis, symbol in axes.items()}
    symbol = next(iter(axes.values()))
    raise checker.error(
        "PH207",
        f"`{name}` wants constant extents, but `:` takes all of `{symbol}`",
        node.span,
        f"fix it (`-D {symbol}=1024` or `specialize({symbol}=1024)`), or walk it in slices",
    )


def is_builtin(checker: Checker, name: str) -> bool:
    """Whether a call of this name reaches a built-in or form of the language."""
    return checker.scope.find(name) is None and name not in checker.functions


def _is_elementwise(checker: Checker, name: str) -> bool:
    binding = checker.scope.find(name)
    if binding is not None or name in checker.functions:
        return isinstance(binding, DType)
    spec = checker.builtins.get(name)
    return name in SCALARS or name == "pad" or (spec is not None and spec.group == "elementwise")
