"""Walks over typed kernels: every statement, every expression, what they read and write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any, cast

from phobos_nb.language.typed import Assert, Expr, Point, Region, Slice, Statement

_Part = Expr | Region | Point | Slice


@cache
def _field_names(kind: type[Any]) -> tuple[str, ...]:
    skipped = ("type", "span", "uniformity", "variable", "tensor")
    return tuple(f.name for f in fields(kind) if f.name not in skipped)


def _parts(node: object) -> Iterator[_Part]:
    """The expressions, regions and subscripts directly inside a node, in order of evaluation."""
    for name in _field_names(type(node)):
        value: Any = getattr(node, name)
        items = cast(tuple[Any, ...], value) if isinstance(value, tuple) else (value,)
        for item in items:
            if isinstance(item, _Part):
                yield item


def children(node: Expr | Statement) -> Iterator[Expr]:
    """The expressions directly below an expression or statement, those in subscripts included."""
    pending = list(_parts(node))
    while pending:
        part = pending.pop(0)
        if isinstance(part, Expr):
            yield part
        else:
            pending = [*_parts(part), *pending]


def expressions(node: Expr | Statement) -> Iterator[Expr]:
    """All expressions below a node, outer ones first; statements nested in it are left out."""
    for child in children(node):
        yield child
        yield from expressions(child)


def blocks(node: Statement) -> Iterator[tuple[Statement, ...]]:
    """The blocks directly inside a statement."""
    for name in ("then", "otherwise", "body"):
        block = getattr(node, name, None)
        if block is not None:
            yield block


def statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """All statements in text order, nested ones after the statement that holds them."""
    for statement in body:
        yield statement
        for block in blocks(statement):
            yield from statements(block)


def has_asserts(body: tuple[Statement, ...]) -> bool:
    """Whether any statement is an assert."""
    return any(isinstance(s, Assert) for s in statements(body))


def all_expressions(body: tuple[Statement, ...]) -> Iterator[Expr]:
    """All expressions of all statements."""
    for statement in statements(body):
        yield from expressions(statement)
