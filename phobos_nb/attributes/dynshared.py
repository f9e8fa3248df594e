"""`@dynshared`: shared memory is sized at launch."""

from __future__ import annotations

from phobos_nb.language.attribute_arguments import no_arguments
from phobos_nb.language.registry import Attribute

SPEC = Attribute(
    name="dynshared",
    signature="@dynshared",
    doc="Asks for dynamic shared memory even where the planned buffer fits the static 48 KB.",
    effect="Will pass the size of shared memory at launch in every case.",
    check=no_arguments,
    inert=True,
)
