"""`@swizzle`: staged tiles are permuted against bank conflicts."""

from __future__ import annotations

from phobos_nb.language.attribute_arguments import no_arguments
from phobos_nb.language.registry import Attribute

SPEC = Attribute(
    name="swizzle",
    signature="@swizzle",
    doc="Permutes the 16-byte units of staged tiles, so that reading columns hits all banks.",
    effect="Will make swizzled staging the choice wherever it is legal.",
    check=no_arguments,
    inert=True,
)
