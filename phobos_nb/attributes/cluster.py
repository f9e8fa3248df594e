"""`@cluster(...)`: how a multi-GPU run divides the work."""

from __future__ import annotations

from collections.abc import Mapping

from phobos_nb.language.registry import Attribute, AttributeSite


def check(site: AttributeSite) -> Mapping[str, object]:
    """All arguments as written, positional ones under their position."""
    positional = {str(position): value for position, value in enumerate(site.positional)}
    return {**positional, **site.named}


SPEC = Attribute(
    name="cluster",
    signature="@cluster(...)",
    doc="How a multi-GPU run divides the kernel. Parsed everywhere, used only by such a run.",
    effect="Will divide the grid over the GPUs of a multi-GPU run.",
    check=check,
    inert=True,
)
