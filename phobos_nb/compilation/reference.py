"""The right answer that a caller of `compare` gives: arrays, or a function that gives them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

import numpy as np

from phobos_nb.arguments.findings import findings
from phobos_nb.arguments.simulation import CODE

Reference = Mapping[str, Any] | Callable[[dict[str, Any]], Any] | Any
"""The right outputs by name, or what gives them for a call's arguments by name; of a kernel with one
output also the bare array."""


def by_name(given: Any, outputs: Collection[str]) -> Any:
    """A bare array as that of the only output; anything else as it is."""
    if isinstance(given, Mapping | tuple) or len(outputs) != 1:
        return cast(Any, given)
    try:
        bare = np.ndim(given) > 0
    except ValueError:  # a ragged list
        bare = False
    return {next(iter(outputs)): given} if bare else given


def asked(
    kernel: str, ref: Callable[..., Any], values: Mapping[str, Any], outputs: Collection[str]
) -> Any:
    """What a function gives for a call's arguments, which it gets as copies, in one dict.

    Raises `ArgumentTypeError` PH715 where it cannot be called so. What it raises itself is the
    caller's, with a note that says where it comes from.
    """
    _check_arity(kernel, ref, values, outputs)
    try:
        given = ref({name: np.copy(x) if np.ndim(x) else x for name, x in values.items()})
    except Exception as error:
        names = ", ".join(values)
        error.add_note(f"raised by the function given as `ref`, which got a dict of {kernel}'s {names}")
        raise
    return by_name(given, outputs)


def _check_arity(
    kernel: str, ref: Callable[..., Any], values: Mapping[str, Any], outputs: Collection[str]
) -> None:
    try:
        signature = inspect.signature(ref)
    except (TypeError, ValueError):  # built-in functions need not tell theirs
        return
    try:
        signature.bind({})
    except TypeError:
        with findings(kernel) as found:
            found.type_error(
                CODE,
                f"ref: wanted a function of one dict, the arguments by name, got one of {signature}",
                example(outputs, next(iter(values))),
            )


def example(outputs: Collection[str], argument: str = "X") -> str:
    """How a function is written that gives a kernel's outputs."""
    arrays = ", ".join(f'"{name}": ...' for name in outputs)
    return f'write `ref=lambda given: {{{arrays}}}`, with `given["{argument}"]` for an argument'
