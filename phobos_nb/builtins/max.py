"""The built-in `max`."""

from __future__ import annotations

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.elementwise import selection
from phobos_nb.language.meaning.floats import maximum

SPEC = selection(
    "max",
    "The larger of two numbers; NaN if either is NaN.",
    maximum,
    lowering.selection("max"),
)
