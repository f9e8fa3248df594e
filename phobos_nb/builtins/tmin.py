"""The built-in `tmin`."""

from __future__ import annotations

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import selection
from phobos_nb.language.meaning.floats import minimum

SPEC = selection(
    "tmin",
    "The smaller of two tiles, elementwise; NaN where either is NaN.",
    minimum,
    lowering.selection("min"),
)
