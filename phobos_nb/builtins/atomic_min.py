"""The built-in `atomic_min`."""

from __future__ import annotations

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.atomics import atomic
from phobos_nb.language.meaning.floats import minimum

SPEC = atomic(
    "atomic_min",
    "Lowers an element to v; NaN wins. A scalar v returns the old value.",
    minimum,
    lowering.atomic("min"),
)
