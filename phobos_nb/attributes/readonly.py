"""`@readonly`: tensors that are only read go through the read-only cache."""

from __future__ import annotations

from phobos_nb.language.attribute_arguments import no_arguments
from phobos_nb.language.registry import Attribute

SPEC = Attribute(
    name="readonly",
    signature="@readonly",
    doc="Asserts that no other argument overlaps the tensors that the kernel only reads.",
    effect="Will load them through the non-coherent path and check the overlap at launch.",
    check=no_arguments,
    inert=True,
)
