"""How `print` writes a value, wherever the kernel runs: as NumPy writes a scalar of its type."""

from __future__ import annotations

from collections.abc import Sequence

from phobos_nb.arguments.make import numpy_dtype


def shown_value(dtype: str, number: float) -> str:
    """A number as its type shows it: 0.1 for f32, though the number passed is the nearest f32's."""
    return str(numpy_dtype(dtype).type(number))


def shown_line(text: str, dtypes: Sequence[str], numbers: Sequence[float]) -> str:
    """The text of `print` with its values in place of `{}`."""
    return text.format(*(shown_value(t, n) for t, n in zip(dtypes, numbers, strict=False)))
