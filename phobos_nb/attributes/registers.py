"""`@registers`: operands of a dot stay in registers."""

from __future__ import annotations

from phobos_nb.language.attribute_arguments import no_arguments
from phobos_nb.language.registry import Attribute

SPEC = Attribute(
    name="registers",
    signature="@registers",
    doc="Keeps copied tiles in registers instead of shared memory where their use allows it.",
    effect="Will choose registers over shared memory for tiles that each thread uses alone.",
    check=no_arguments,
    inert=True,
)
