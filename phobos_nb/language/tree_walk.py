"""Walks over syntax trees: the nodes below one, the names in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields
from typing import Any, cast

from phobos_nb.language.tree import Name, Node


def nodes(node: Node) -> Iterator[Node]:
    """A node and all below it."""
    yield node
    for child in children(node):
        yield from nodes(child)


def children(node: Node, without: Collection[str] = ()) -> Iterator[Node]:
    """The nodes directly below one, but for those in the fields `without`."""
    for field in fields(node):
        if field.name in without:
            continue
        value: Any = getattr(node, field.name)
        items = cast(tuple[Any, ...], value) if isinstance(value, tuple) else (value,)
        yield from (item for item in items if isinstance(item, Node))


def names(some: Iterable[Node]) -> set[str]:
    """The text of every name in some nodes."""
    return {n.text for node in some for n in nodes(node) if isinstance(n, Name)}
