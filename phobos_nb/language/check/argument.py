"""Arguments of calls: values, or tensors and shared arrays by their names."""

from __future__ import annotations

from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.expressions import check_value
from phobos_nb.language.check.names import lookup
from phobos_nb.language.registry import Argument
from phobos_nb.language.tree import Expression, Name
from phobos_nb.language.typed import SharedArray, Tensor


def check_argument(checker: Checker, node: Expression) -> Argument:
    """One argument of a built-in or function."""
    if isinstance(node, Name):
        binding = lookup(checker, node)
        if isinstance(binding, Tensor | SharedArray):
            return binding
    return check_value(checker, node)
