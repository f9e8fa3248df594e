"""All undeclared names of a statement, where the first of them ended its check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, cast

from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.names import is_known, unknown
from phobos_nb.language.tree import Field, Name, Node

_ELSEWHERE = ("name", "callee", "body", "then", "otherwise", "span")
"""Parts of a node that declare a name, are looked up as functions, or are statements of their own."""


def report_undeclared(checker: Checker, statement: Node) -> None:
    """PH101 for every name in the statement's own expressions that nothing declares."""
    for name in _names(statement):
        if not is_known(checker, name.text):
            unknown(checker, name)


def _names(node: object) -> Iterator[Name]:
    if isinstance(node, Name):
        yield node
    elif isinstance(node, tuple):
        for item in cast(tuple[object, ...], node):
            yield from _names(item)
    elif is_dataclass(node) and not isinstance(node, Field):
        for part in fields(node):
            value: Any = getattr(node, part.name)
            if part.name not in _ELSEWHERE:
                yield from _names(value)
