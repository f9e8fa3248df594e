"""Which tensors a typed body reads and writes."""

from __future__ import annotations

from collections.abc import Iterable

from phobos_nb.language.registry import Builtins
from phobos_nb.language.typed import (
    Call,
    ElementRead,
    Evaluate,
    Expr,
    Print,
    Statement,
    StoreElement,
    StoreTile,
    Tensor,
    TileRead,
)
from phobos_nb.language.walk import all_expressions, statements

Body = tuple[Statement, ...]


def written(body: Body, builtins: Builtins) -> frozenset[str]:
    """Names of the tensors that a store or an atomic may change."""
    stores = {s.region.tensor.name for s in statements(body) if isinstance(s, StoreTile)}
    elements = {
        s.base.name
        for s in statements(body)
        if isinstance(s, StoreElement) and isinstance(s.base, Tensor)
    }
    calls = {t.name for e in all_expressions(body) for t in _changed_by(e, builtins)}
    return frozenset(stores | elements | calls)


def read(body: Body) -> frozenset[str]:
    """Names of the tensors whose elements may be looked at."""
    return frozenset(name for e in all_expressions(body) for name in _read_by(e))


def _changed_by(expr: Expr, builtins: Builtins) -> tuple[Tensor, ...]:
    if not isinstance(expr, Call) or not builtins[expr.builtin].writes:
        return ()
    return tuple(a for a in expr.arguments if isinstance(a, Tensor))


def _read_by(expr: Expr) -> tuple[str, ...]:
    match expr:
        case TileRead(region=region):
            return (region.tensor.name,)
        case ElementRead(base=Tensor(name=name)):
            return (name,)
        case Call(arguments=arguments):
            return tuple(a.name for a in arguments if isinstance(a, Tensor))
        case _:
            return ()


def element_read(body: Body) -> frozenset[str]:
    """Names of the tensors that are read per element, whose uniformity depends on writes."""
    found = (e for e in all_expressions(body) if isinstance(e, ElementRead))
    return frozenset(e.base.name for e in found if isinstance(e.base, Tensor))


def has_effect(body: Iterable[Statement], builtins: Builtins) -> bool:
    """Whether running the statements changes memory, prints, or waits."""
    block = tuple(body)
    lasting = (StoreTile, StoreElement, Evaluate, Print)
    if any(isinstance(s, lasting) for s in statements(block)):
        return True
    return any(isinstance(e, Call) and not builtins[e.builtin].pure for e in all_expressions(block))
