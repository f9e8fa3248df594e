"""`@padstage`: staged tiles get padded rows against bank conflicts."""

from __future__ import annotations

from phobos_nb.language.attribute_arguments import no_arguments
from phobos_nb.language.registry import Attribute

SPEC = Attribute(
    name="padstage",
    signature="@padstage",
    doc="Appends unused elements to each row of a staged tile, so that reading columns hits all banks.",
    effect="Will make padded staging the choice instead of swizzling.",
    check=no_arguments,
    inert=True,
)
