"""The built-in `atomic_max`."""

from __future__ import annotations

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.atomics import atomic
from phobos_nb.language.meaning.floats import maximum

SPEC = atomic(
    "atomic_max",
    "Raises an element to v; NaN wins. A scalar v returns the old value.",
    maximum,
    lowering.atomic("max"),
)
