"""Index expressions as sums of products with constant coefficients.

Used to see that two positions differ by a constant, and how a store is placed by the block id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import cast

from phobos_nb.language.typed import (
    Binary,
    Call,
    Constant,
    Context,
    Convert,
    ElementRead,
    Expr,
    Extent,
    ScalarArgument,
    Unary,
    Variable,
    VariableRead,
)

Atom = tuple[object, ...]
Product = tuple[Atom, ...]
Definitions = Mapping[Variable, Expr]


@dataclass(frozen=True)
class Linear:
    """constant + the sum over `terms` of coefficient times product of atoms."""

    constant: int = 0
    terms: Mapping[Product, int] = field(default_factory=dict[Product, int])

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """Self + factor * other; terms that cancel vanish."""
        terms = dict(self.terms)
        for product, coefficient in other.terms.items():
            terms[product] = terms.get(product, 0) + factor * coefficient
        kept = {p: c for p, c in terms.items() if c != 0}
        return Linear(self.constant + factor * other.constant, kept)

    def times(self, other: Linear) -> Linear:
        """The product, multiplied out."""
        out = Linear(self.constant * other.constant)
        out = out.plus(Linear(0, self.terms), other.constant).plus(Linear(0, other.terms), self.constant)
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                product = tuple(sorted(left + right, key=repr))
                out = out.plus(Linear(0, {product: a * b}))
        return out


def linear(expr: Expr, definitions: Definitions) -> Linear:
    """The linear form; variables in `definitions` are replaced by what they were set to."""
    match expr:
        case Constant(value=int(value)):
            return Linear(value)
        case Binary(op="+", left=left, right=right):
            return linear(left, definitions).plus(linear(right, definitions))
        case Binary(op="-", left=left, right=right):
            return linear(left, definitions).plus(linear(right, definitions), -1)
        case Binary(op="*", left=left, right=right):
            return linear(left, definitions).times(linear(right, definitions))
        case Unary(op="-", operand=operand):
            return Linear().plus(linear(operand, definitions), -1)
        case Convert(operand=operand) if _is_integer(operand) and _is_integer(expr):
            return linear(operand, definitions)
        case VariableRead(variable=variable) if variable in definitions:
            return linear(definitions[variable], definitions)
        case _:
            return Linear(0, {(atom(expr, definitions),): 1})


def _is_integer(expr: Expr) -> bool:
    dtype = getattr(expr.type, "dtype", None)
    return bool(dtype is not None and dtype.is_integer)


def atom(expr: Expr, definitions: Definitions) -> Atom:
    """A key that is equal for expressions that are sure to have equal values."""
    match expr:
        case Context(kind=kind, axis=axis):
            return ("ctx", kind, axis)
        case Extent(symbol=symbol):
            return ("extent", symbol)
        case ScalarArgument(name=name):
            return ("scalar", name)
        case VariableRead(variable=variable) if variable in definitions:
            return atom(definitions[variable], definitions)
        case VariableRead(variable=variable):
            return ("variable", variable.name, id(variable))
        case Constant(value=value):
            return ("constant", value)
        case Call() | ElementRead():
            return ("unknown", id(expr), *_children(expr, definitions))
        case _:
            shown = [getattr(expr, f.name) for f in fields(expr) if f.name in ("op", "kind")]
            return (type(expr).__name__, str(expr.type), *shown, *_children(expr, definitions))


def _children(expr: Expr, definitions: Definitions) -> list[Atom]:
    found: list[Atom] = []
    for f in fields(expr):
        value: object = getattr(expr, f.name)
        parts = cast(tuple[object, ...], value) if isinstance(value, tuple) else (value,)
        found += [atom(part, definitions) for part in parts if isinstance(part, Expr)]
    return found


def mentions_block(part: object) -> set[int]:
    """The axes of `ctx.block` that occur anywhere inside an atom or product."""
    if not isinstance(part, tuple):
        return set()
    items = cast(tuple[object, ...], part)
    if len(items) == 3 and items[:2] == ("ctx", "block"):
        return {cast(int, items[2])}
    return {axis for item in items for axis in mentions_block(item)}
