"""All undeclared names of a statement, where the first of them ended its check."""

from __future__ import annotations

from collections.abc import Iterator

from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.names import is_known, unknown
from phobos_nb.language.tree import Field, Name, Node
from phobos_nb.language.tree_walk import children

_ELSEWHERE = ("name", "callee", "body", "then", "otherwise")
"""Parts of a node that declare a name, are looked up as functions, or are statements of their own."""


def report_undeclared(checker: Checker, statement: Node) -> None:
    """PH101 for every name in the statement's own expressions that nothing declares."""
    for name in _names(statement):
        if not is_known(checker, name.text):
            unknown(checker, name)


def _names(node: Node) -> Iterator[Name]:
    if isinstance(node, Name):
        yield node
    elif not isinstance(node, Field):
        for child in children(node, without=_ELSEWHERE):
            yield from _names(child)
