"""The built-in `tmax`."""

from __future__ import annotations

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import selection
from phobos_nb.language.meaning.floats import maximum

SPEC = selection(
    "tmax",
    "The larger of two tiles, elementwise; NaN where either is NaN.",
    maximum,
    lowering.selection("max"),
)
