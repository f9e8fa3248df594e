"""The products of matrices in a typed kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from phobos_nb.language.typed import Call, TypedKernel
from phobos_nb.language.walk import all_expressions

DOTS = ("dot", "dot_t")
"""Built-ins that are products of matrices."""


def is_dot(node: object) -> TypeGuard[Call]:
    """Whether a part of a typed kernel is a call of one of them."""
    return isinstance(node, Call) and node.builtin in DOTS


def dots(kernel: TypedKernel) -> Iterator[Call]:
    """The dots of a kernel, in text order."""
    return filter(is_dot, all_expressions(kernel.body))
