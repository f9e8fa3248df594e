"""Whether a statement's operands are the same in every thread of the CTA, so that it happens once.

`A[i] += s` reads the element that it stores: that read is not counted, or no update of a tensor could
ever be one addition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from phobos_nb.language.typed import (
    Binary,
    Convert,
    ElementRead,
    Expr,
    SharedArray,
    StoreElement,
    Tensor,
    Unary,
)
from phobos_nb.language.types import Uniformity


def all_uniform(exprs: Sequence[Expr]) -> bool:
    """Whether every expression has one value for the CTA."""
    return all(e.uniformity is Uniformity.CTA for e in exprs)


def stores_once(statement: StoreElement) -> bool:
    """Whether indices and value are uniform, the element's own old value aside."""
    return all_uniform(statement.indices) and _uniform_besides(
        statement.value, statement.base, statement.indices
    )


def _uniform_besides(expr: Expr, base: Tensor | SharedArray, indices: tuple[Expr, ...]) -> bool:
    match expr:
        case ElementRead() if expr.base is base and expr.indices == indices:
            return True
        case Binary():
            parts = (expr.left, expr.right)
            return all(_uniform_besides(e, base, indices) for e in parts)
        case Unary() | Convert():
            return _uniform_besides(expr.operand, base, indices)
        case _:
            return expr.uniformity is Uniformity.CTA


def shared_operands(statement: StoreElement) -> Iterator[Expr]:
    """The parts of a `stores_once` value, and of its indices, that do not read the element itself."""
    yield from statement.indices
    yield from _besides(statement.value)


def reads_itself(statement: StoreElement) -> bool:
    """Whether the value of a `stores_once` statement reads the element that is stored."""
    return statement.value.uniformity is not Uniformity.CTA


def _besides(expr: Expr) -> Iterator[Expr]:
    if expr.uniformity is Uniformity.CTA:
        yield expr
        return
    match expr:
        case ElementRead():
            yield from expr.indices
        case Binary():
            yield from _besides(expr.left)
            yield from _besides(expr.right)
        case Unary() | Convert():
            yield from _besides(expr.operand)
        case _:
            raise TypeError("not a value that is stored once")
