"""Which pairs of tensors may be one array: those that the kernel only touches at the same places.

See Note [In place] in `phobos_nb/arguments/overlap.py`. A pair qualifies where every access of both
tensors has the same subscripts, there is exactly one store, it stands in no loop, and neither
tensor is accessed after it. Then every element is read before it is written, by the CTA (or thread)
that writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from itertools import combinations
from typing import Any

from phobos_nb.language.typed import (
    Assign,
    Call,
    ElementRead,
    Expr,
    For,
    If,
    Statement,
    StoreElement,
    StoreTile,
    Tensor,
    TileRead,
    TypedKernel,
    Variable,
    VariableRead,
    While,
)

_IGNORED = ("span", "type", "uniformity")


@dataclass(frozen=True)
class _Access:
    """One access in program order; `place` is None where it cannot be compared."""

    tensor: str
    place: Any
    store: bool
    looped: bool


def in_place_pairs(kernel: TypedKernel) -> frozenset[frozenset[str]]:
    """The pairs of tensor names that may be the same array, at least one of them written."""
    accesses = list(_Walk().statements(kernel.body, looped=False))
    pairs = combinations([t.name for t in kernel.tensor_parameters], 2)
    return frozenset(frozenset(p) for p in pairs if _qualifies([a for a in accesses if a.tensor in p]))


def _qualifies(accesses: list[_Access]) -> bool:
    places = {repr(a.place) for a in accesses}
    stores = [a for a in accesses if a.store]
    if len(places) != 1 or any(a.place is None for a in accesses) or len(stores) != 1:
        return False
    return accesses[-1].store and not stores[0].looped


class _Walk:
    """Visits statements in program order, resolving constants bound by `let` on the way."""

    def __init__(self) -> None:
        self.bound: dict[Variable, Expr] = {}

    def statements(self, body: tuple[Statement, ...], *, looped: bool) -> Iterator[_Access]:
        for statement in body:
            yield from self._statement(statement, looped)

    def _statement(self, statement: Statement, looped: bool) -> Iterator[_Access]:
        match statement:
            case Assign(variable=variable, value=value):
                yield from self._reads(value, looped)
                if not variable.mutable:
                    self.bound[variable] = value
            case StoreTile(region=region, value=value):
                yield from self._reads((region.subscripts, value), looped)
                place = self._place(region.subscripts)
                yield _Access(region.tensor.name, place, True, looped)
            case StoreElement(base=base, indices=indices, value=value):
                yield from self._reads((indices, value), looped)
                yield _Access(base.name, self._place(indices), True, looped)
            case For(body=body) | While(body=body):
                yield from self._reads(_without_bodies(statement), looped)
                yield from self.statements(body, looped=True)
            case If(then=then, otherwise=otherwise):
                yield from self._reads(statement.condition, looped)
                yield from self.statements(then, looped=looped)
                yield from self.statements(otherwise, looped=looped)
            case _:
                yield from self._reads(_without_bodies(statement), looped)

    def _reads(self, node: Any, looped: bool) -> Iterator[_Access]:
        """Accesses inside expressions, innermost first."""
        for part in _parts(node):
            yield from self._reads(part, looped)
        match node:
            case TileRead(region=region):
                yield _Access(region.tensor.name, self._place(region.subscripts), False, looped)
            case ElementRead(base=base, indices=indices):
                yield _Access(base.name, self._place(indices), False, looped)
            case Call(builtin=builtin, arguments=arguments) if builtin != "extent":
                for tensor in arguments:
                    if isinstance(tensor, Tensor):
                        yield _Access(tensor.name, None, True, looped)
            case _:
                pass

    def _place(self, node: Any) -> Any:
        """The structure of subscripts without spans; None where a mutable variable or memory decides."""
        match node:
            case VariableRead(variable=variable):
                if variable in self.bound:
                    return self._place(self.bound[variable])
                return None if variable.mutable else ("variable", id(variable))
            case TileRead() | ElementRead() | Call():
                return None
            case tuple():
                return self._join("tuple", [self._place(n) for n in node])  # pyright: ignore[reportUnknownVariableType] - any tuple
            case _ if is_dataclass(node) and not isinstance(node, Variable | type):
                inner = [getattr(node, f.name) for f in fields(node) if f.name not in _IGNORED]
                return self._join(type(node).__name__, [self._place(n) for n in inner])
            case _:
                return ("leaf", node)

    @staticmethod
    def _join(head: str, parts: list[Any]) -> Any:
        return None if any(p is None for p in parts) else (head, *parts)


def _without_bodies(statement: Statement) -> tuple[Any, ...]:
    names = [f.name for f in fields(statement) if f.name not in ("body", "then", "otherwise", "span")]
    return tuple(getattr(statement, n) for n in names)


def _parts(node: Any) -> tuple[Any, ...]:
    if isinstance(node, tuple):
        return node  # pyright: ignore[reportUnknownVariableType] - any tuple of nodes
    if is_dataclass(node) and not isinstance(node, Variable | Tensor | type):
        return tuple(getattr(node, f.name) for f in fields(node) if f.name not in _IGNORED)
    return ()
