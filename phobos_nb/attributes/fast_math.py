"""`@fast_math`: approximate functions and contraction are allowed."""

from __future__ import annotations

from phobos_nb.language.attribute_arguments import no_arguments
from phobos_nb.language.registry import Attribute

SPEC = Attribute(
    name="fast_math",
    signature="@fast_math",
    doc="Allows approximate division, roots and transcendental functions, and fused multiply-adds.",
    effect="Will loosen the documented error bounds of elementwise functions.",
    check=no_arguments,
    inert=True,
)
