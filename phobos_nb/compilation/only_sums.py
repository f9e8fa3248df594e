"""Whether a kernel's loops with dots only add up products, as far as its text says."""

from __future__ import annotations

from phobos_nb.language.dots import is_dot
from phobos_nb.language.typed import (
    Assign,
    Binary,
    Expr,
    For,
    Statement,
    TypedKernel,
    Variable,
    VariableRead,
)
from phobos_nb.language.types import TileType
from phobos_nb.language.walk import expressions, statements


def only_adds(kernel: TypedKernel) -> bool:
    """Whether every dot is added to or taken from its own variable, in a loop that does no more.

    The lowering decides by values what such loops can have (groups of warps, for one); this says whether
    it is worth choosing for.
    """
    loops = [s for s in statements(kernel.body) if isinstance(s, For) and any(map(_has_dot, s.body))]
    inside = sum(_count(s) for loop in loops for s in loop.body)
    everywhere = sum(map(_count, statements(kernel.body)))
    return bool(loops) and inside == everywhere and all(_is_plain(s) for x in loops for s in x.body)


def _is_plain(statement: Statement) -> bool:
    if not isinstance(statement, Assign):
        return False
    return _accumulates(statement) or (statement.declares and not _has_dot(statement))


def _accumulates(statement: Assign) -> bool:
    """`v = v + dot(..)`, in either order, or `v = v - dot(..)`, in the dtype of the product."""
    value, held = statement.value, statement.variable
    if not isinstance(value, Binary) or value.op not in ("+", "-"):
        return False
    pairs = [(value.left, value.right), (value.right, value.left)][: 2 if value.op == "+" else 1]
    return any(_is_read(own, held) and is_dot(product) for own, product in pairs) and _alike(
        value.left, value.right
    )


def _is_read(expr: Expr, variable: Variable) -> bool:
    return isinstance(expr, VariableRead) and expr.variable is variable


def _alike(a: Expr, b: Expr) -> bool:
    """Whether both are tiles of one dtype."""
    if not isinstance(a.type, TileType) or not isinstance(b.type, TileType):
        return False
    return a.type.dtype == b.type.dtype


def _has_dot(statement: Statement) -> bool:
    return _count(statement) > 0


def _count(statement: Statement) -> int:
    """Dots in the expressions of a statement, without those of statements in it."""
    return sum(map(is_dot, expressions(statement)))
