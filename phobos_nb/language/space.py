"""The values that an `@autotune` list stands for."""

from __future__ import annotations


def search_values(written: tuple[int, ...]) -> tuple[int, ...]:
    """All values a search visits, in order.

    Exactly two ascending values are bounds, searched in doubling steps with the upper one always
    included; any other list is taken as it is, negative values (an error elsewhere) too.
    """
    if len(written) != 2 or not 0 <= written[0] < written[1]:
        return tuple(dict.fromkeys(written))
    low, high = written
    values: list[int] = []
    while low < high:
        values.append(low)
        low = low * 2 or 1
    return (*values, high)
