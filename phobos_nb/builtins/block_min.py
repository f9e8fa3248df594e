"""The built-in `block_min`."""

from __future__ import annotations

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.lanes import over_block
from phobos_nb.builtins.families.reductions import same_dtype
from phobos_nb.language.meaning.floats import minimum

SPEC = over_block(
    "block_min",
    "The smallest value over all threads of the CTA; NaN if one is NaN.",
    minimum,
    same_dtype,
    lowering.over_block("min"),
)
