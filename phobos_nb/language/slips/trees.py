"""Syntax trees changed, whatever their nodes are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from itertools import combinations
from typing import Any, TypeVar, cast

from phobos_nb.language.tree import Name, Node
from phobos_nb.source import Span

Item = TypeVar("Item")


def rebuilt(node: Node, change: Callable[[Node], Node]) -> Node:
    """A node with its children changed."""
    changed: dict[str, Any] = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, Node):
            changed[field.name] = change(value)
        elif isinstance(value, tuple) and not isinstance(value, Span):
            items = cast(tuple[Any, ...], value)
            changed[field.name] = tuple(change(x) if isinstance(x, Node) else x for x in items)
    return replace(cast(Any, node), **changed)


def replaced(node: Node, others: Mapping[int, Node]) -> Node:
    """A tree with other nodes in place of some, by their identity."""
    if id(node) in others:
        return others[id(node)]
    return rebuilt(node, lambda child: replaced(child, others))


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """A tree with names in place of others."""
    if isinstance(node, Name):
        return replace(node, text=names.get(node.text, node.text))
    return rebuilt(node, lambda child: renamed(child, names))


def exchanged(items: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
    """Every two of some parts, each in the other's place."""
    for i, j in combinations(range(len(items)), 2):
        order = list(items)
        order[i], order[j] = order[j], order[i]
        yield tuple(order)
