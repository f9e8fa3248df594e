"""Checks that attributes share: counts, names and integers of their arguments."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from phobos_nb.language.registry import AttributeSite
from phobos_nb.language.suggest import did_you_mean
from phobos_nb.source import Span


def place(site: AttributeSite, key: int | str) -> Span:
    """Where an argument stands."""
    return site.spans.get(key, site.span)


def expect_positional(site: AttributeSite, most: int, form: str) -> None:
    """Report more positional arguments than `most` (PH402); `form` shows how it is written."""
    if len(site.positional) > most:
        message = (
            f"`@{site.name}` takes no such argument"
            if most == 0
            else f"`@{site.name}` takes at most {most}"
        )
        raise site.diagnostics.error("PH402", message, place(site, most), help=f"write `{form}`")


def expect_named(site: AttributeSite, allowed: Collection[str], form: str) -> None:
    """Report named arguments that are not among `allowed` (PH402)."""
    for name in site.named:
        if name not in allowed:
            help = did_you_mean(name, allowed) or f"write `{form}`"
            message = f"`@{site.name}` has no argument `{name}`"
            raise site.diagnostics.error("PH402", message, place(site, name), help=help)


def no_arguments(site: AttributeSite) -> Mapping[str, object]:
    """The check of an attribute that takes none."""
    expect_positional(site, 0, f"@{site.name}")
    expect_named(site, (), f"@{site.name}")
    return {}


def integer(site: AttributeSite, key: int | str, what: str) -> int:
    """An argument that is an integer, or the name of a compile-time integer (PH402)."""
    value = site.positional[key] if isinstance(key, int) else site.named[key]
    if isinstance(value, str) and value in site.constants:
        return site.constants[value]
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        help = did_you_mean(value, site.constants) or "name an `@autotune` or `int` parameter"
        message = f"`{value}` is not a compile-time integer"
        raise site.diagnostics.error("PH402", message, place(site, key), help=help)
    raise site.diagnostics.error("PH402", f"{what} is an integer", place(site, key))
