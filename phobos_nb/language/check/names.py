"""What a name in an expression stands for."""

from __future__ import annotations

import math
from dataclasses import replace

from phobos_nb.diagnostics import Stop
from phobos_nb.dtypes import F32, INDEX, SCALARS, DType
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.conversions import constant
from phobos_nb.language.check.openness import open_axes
from phobos_nb.language.check.reads import tile_read
from phobos_nb.language.check.scope import Alias, Binding, Broken, View, WholeView
from phobos_nb.language.hints import FOREIGN
from phobos_nb.language.suggest import did_you_mean
from phobos_nb.language.tree import Expression, Field, Name, Node
from phobos_nb.language.typed import Context, Expr, SharedArray, Tensor
from phobos_nb.language.types import ScalarType, Uniformity

_NUMBERS = {"inf": math.inf, "nan": math.nan}
_AXES = ("x", "y", "z")
_PLACES = {"thread": Uniformity.LANE, "lane": Uniformity.LANE, "warp": Uniformity.WARP}
_GRIDS = ("block", "blocks")


def lookup(checker: Checker, node: Name) -> Binding:
    """The binding of a name. Reports an unknown one (PH101) with the closest known."""
    binding = checker.scope.find(node.text)
    if isinstance(binding, Broken):
        raise Stop
    if binding is not None:
        return binding
    if node.text in _NUMBERS:
        return Alias(constant(_NUMBERS[node.text], F32, node.span, literal=True), "a constant")
    raise unknown(checker, node)


def is_known(checker: Checker, name: str) -> bool:
    """Whether something has that name: a declaration, a number, a type, a function."""
    tables = (_NUMBERS, SCALARS, checker.builtins, checker.functions)
    return checker.scope.find(name) is not None or any(name in table for table in tables)


def unknown(checker: Checker, node: Name) -> Stop:
    """Report a name that nothing declares (PH101)."""
    name = node.text
    if name in checker.functions or name in checker.builtins or name in SCALARS:
        return checker.error("PH101", f"`{name}` is called with arguments: `{name}(...)`", node.span)
    known = [*checker.scope.visible(), *checker.builtins, *checker.functions, "ctx"]
    help = FOREIGN.get(name) or did_you_mean(name, known)
    return checker.error("PH101", f"`{name}` is not declared", node.span, help)


def check_name(checker: Checker, node: Name) -> Expr:
    """The value of a name."""
    binding = lookup(checker, node)
    match binding:
        case Alias(expr=expr):
            return _respanned(expr, node)
        case View(region=region, pad=pad):
            return tile_read(region, pad, node.span)
        case WholeView():
            raise whole_extent(checker, node, next(iter(open_axes(checker, node).values())))
        case Tensor() | SharedArray():
            what = "a tensor" if isinstance(binding, Tensor) else "a shared array"
            help = f"read part of it: `{node.text}[...]`"
            raise checker.error("PH104", f"`{node.text}` is {what}, not a value", node.span, help)
        case DType() | Broken():
            raise checker.error("PH104", f"`{node.text}` is a type, not a value", node.span)
        case variable:
            return checker.read(variable, node.span)


def whole_extent(checker: Checker, node: Node, symbol: str) -> Stop:
    """Report a tile of a run-time extent where its size must be a constant (PH207)."""
    return checker.error(
        "PH207",
        f"`:` takes all of `{symbol}`, whose extent is known only at run time",
        node.span,
        f"fix it (`-D {symbol}=1024` or `specialize({symbol}=1024)`), or walk it in slices",
    )


def _respanned(expr: Expr, node: Name) -> Expr:
    return replace(expr, span=node.span)


def check_field(checker: Checker, node: Field) -> Expr:
    """`ctx.thread`, `ctx.block.x` and their like."""
    path = _path(node)
    if path is not None and path[0] in FOREIGN and checker.scope.find(path[0]) is None:
        message = f"`{path[0]}` is not declared"
        raise checker.error("PH101", message, node.span, FOREIGN[path[0]])
    if path is None or path[0] != "ctx" or checker.scope.find("ctx") is not None:
        raise checker.error("PH101", f"there is no field `{node.name}` here", node.span)
    match path[1:]:
        case [kind] if kind in _PLACES:
            return _context(node, kind, 0, _PLACES[kind])
        case [kind, axis] if kind in _GRIDS and axis in _AXES:
            return _context(node, kind, _AXES.index(axis), Uniformity.CTA)
        case _:
            raise _unknown_field(checker, node, path)


def _path(node: Expression) -> list[str] | None:
    if isinstance(node, Name):
        return [node.text]
    if isinstance(node, Field):
        base = _path(node.base)
        return None if base is None else [*base, node.name]
    return None


def _context(node: Field, kind: str, axis: int, uniformity: Uniformity) -> Context:
    return Context(type=ScalarType(INDEX), span=node.span, uniformity=uniformity, kind=kind, axis=axis)


def _unknown_field(checker: Checker, node: Field, path: list[str]) -> Stop:
    known = [f"ctx.{k}" for k in _PLACES] + [f"ctx.{k}.{a}" for k in _GRIDS for a in _AXES]
    written = ".".join(path)
    help = did_you_mean(written, known)
    if written in ("ctx.block", "ctx.blocks"):
        help = f"write `{written}.x`, `{written}.y` or `{written}.z`"
    return checker.error("PH101", f"there is no `{written}`", node.span, help)
