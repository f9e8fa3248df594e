"""`@aligned(M = TILE_M, K = 16, ...)`: extents that are promised to be multiples."""

from __future__ import annotations

from collections.abc import Mapping

from phobos_nb.language.attribute_arguments import expect_positional, integer, place
from phobos_nb.language.registry import Attribute, AttributeSite
from phobos_nb.language.suggest import did_you_mean

FORM = "@aligned(M = TILE_M, ...)"


def check(site: AttributeSite) -> Mapping[str, object]:
    """Symbol -> multiple, for the symbols whose extents are known only at run time."""
    expect_positional(site, 0, FORM)
    if not site.named:
        raise site.diagnostics.error("PH402", "`@aligned` names no extent", site.span, help=FORM)
    promises = {name: _multiple(site, name) for name in site.named}
    return {name: multiple for name, multiple in promises.items() if name in site.extents}


def _multiple(site: AttributeSite, name: str) -> int:
    multiple = integer(site, name, f"the multiple of `{name}`")
    if multiple < 1:
        message = f"the multiple of `{name}` is at least 1, found {multiple}"
        raise site.diagnostics.error("PH402", message, place(site, name))
    if name in site.constants:
        _check_fixed(site, name, multiple)
    elif name not in site.extents:
        message = f"no tensor of the kernel has the extent `{name}`"
        help = did_you_mean(name, site.extents)
        raise site.diagnostics.error("PH402", message, place(site, name), help=help)
    return multiple


def _check_fixed(site: AttributeSite, name: str, multiple: int) -> None:
    extent = site.constants[name]
    if extent % multiple:
        message = f"`{name}` is fixed to {extent}, which is not a multiple of {multiple}"
        raise site.diagnostics.error("PH402", message, place(site, name))


SPEC = Attribute(
    name="aligned",
    signature=FORM,
    doc=(
        "Promises that an extent is a multiple of a number or of a compile-time name. A launch that "
        "breaks the promise raises before it reaches the GPU."
    ),
    effect="Drops the masks on these extents and allows 16-byte access where it is proven.",
    check=check,
)
