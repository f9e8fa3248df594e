"""`@assert_coalesced`: every global access touches the fewest lines possible."""

from __future__ import annotations

from phobos_nb.language.attribute_arguments import no_arguments
from phobos_nb.language.registry import Attribute

SPEC = Attribute(
    name="assert_coalesced",
    signature="@assert_coalesced",
    doc="Asserts that each warp-wide global access touches as few 128-byte lines as its bytes allow.",
    effect="Will fail the compilation and name the access that does not.",
    check=no_arguments,
    inert=True,
)
