"""Which slices of a kernel may run past their tensor's end or start before it."""

from __future__ import annotations

from collections.abc import Mapping

from phobos_nb.language.linear import Definitions, Linear, linear
from phobos_nb.language.typed import Constant, Slice


def may_be_partial(
    subscript: Slice, dim: int | str, promises: Mapping[str, int], definitions: Definitions
) -> bool:
    """Whether a slice may hold positions outside an axis of extent `dim`.

    It cannot where the extent is a multiple of the slice's length (a constant, or by a promise) and
    so is every position it starts at; slices that lie outside as a whole do not count.
    """
    if subscript.stop is not None:
        return True
    length = subscript.length
    multiple = dim if isinstance(dim, int) else promises.get(dim, 1)
    if isinstance(dim, int) and isinstance(subscript.start, Constant):
        start = int(subscript.start.value)
        return start < 0 or start + length > dim
    return multiple % length != 0 or not _is_multiple(linear(subscript.start, definitions), length)


def _is_multiple(position: Linear, length: int) -> bool:
    numbers = (position.constant, *position.terms.values())
    return all(number % length == 0 for number in numbers)
