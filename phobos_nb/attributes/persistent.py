"""`@persistent`: a fixed number of CTAs walk all blocks."""

from __future__ import annotations

from phobos_nb.language.attribute_arguments import no_arguments
from phobos_nb.language.registry import Attribute

SPEC = Attribute(
    name="persistent",
    signature="@persistent",
    doc=(
        "Starts as many CTAs as the device holds at once; each walks several blocks. "
        "Block ids stay those of the logical grid."
    ),
    effect="Will start a persistent grid with a loop over blocks in each CTA.",
    check=no_arguments,
    inert=True,
)
