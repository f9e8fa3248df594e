"""`@autotune(X in [..], ...)`: tuning parameters and the values a search visits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from phobos_nb.language.attribute_arguments import expect_positional, place
from phobos_nb.language.registry import Attribute, AttributeSite
from phobos_nb.language.space import search_values

FORM = "@autotune(TILE_M in [32, 256], ...)"


def check(site: AttributeSite) -> Mapping[str, object]:
    """Name -> all values of its space, in the order of the search."""
    expect_positional(site, 0, FORM)
    if not site.named:
        raise site.diagnostics.error("PH402", "`@autotune` names no parameter", site.span, help=FORM)
    return {name: _values(site, name) for name in site.named}


def _values(site: AttributeSite, name: str) -> tuple[int, ...]:
    written = site.named[name]
    if not isinstance(written, tuple):
        message = f"the values of `{name}` are a list"
        help = f"write `{name} in [32, 256]`"
        raise site.diagnostics.error("PH402", message, place(site, name), help=help)
    values = cast(tuple[int, ...], written)
    if not values:
        raise site.diagnostics.error("PH402", f"`{name}` has no values", place(site, name))
    if min(values) < 0:
        message = f"the values of `{name}` are not negative, found {min(values)}"
        raise site.diagnostics.error("PH402", message, place(site, name))
    return search_values(values)


SPEC = Attribute(
    name="autotune",
    signature=FORM,
    doc=(
        "Tuning parameters. Exactly two ascending values are bounds searched in doubling steps, the "
        "upper bound always included; one value, a descending pair, or three or more are the list."
    ),
    effect="Makes each name a constant of the kernel that a search or a launch chooses.",
    check=check,
)
