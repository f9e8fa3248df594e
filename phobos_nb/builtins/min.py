"""The built-in `min`."""

from __future__ import annotations

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import selection
from phobos_nb.language.meaning.floats import minimum

SPEC = selection(
    "min",
    "The smaller of two numbers; NaN if either is NaN.",
    minimum,
    lowering.selection("min"),
)
