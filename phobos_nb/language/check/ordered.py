"""Operands from left to right, where an inlined function on the right changes what is on the left."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from phobos_nb.language.check.checker import Checker
from phobos_nb.language.registry import Argument
from phobos_nb.language.stable import is_stable
from phobos_nb.language.typed import Expr, Statement
from phobos_nb.language.usage import has_effect

_Node = TypeVar("_Node")


def in_order(
    checker: Checker, nodes: Iterable[_Node], check: Callable[[Checker, _Node], Argument]
) -> tuple[Argument, ...]:
    """Check operands in order.

    Where one emits statements with an effect, the values before it are kept in hidden variables
    first, so that they are as they were when their turn came.
    """
    done: list[Argument] = []
    for node in nodes:
        with checker.collect() as emitted:
            value = check(checker, node)
        if has_effect(emitted, checker.builtins):
            done = [_kept(checker, d) for d in done]
        splice(checker, emitted)
        done.append(value)
    return tuple(done)


def splice(checker: Checker, emitted: list[Statement]) -> None:
    """Emit statements that were collected."""
    for statement in emitted:
        checker.emit(statement)


def _kept(checker: Checker, value: Argument) -> Argument:
    if not isinstance(value, Expr) or is_stable(value):
        return value
    return checker.hidden(value, "operand")
