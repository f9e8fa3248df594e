"""The attributes of the language: one file each, defining `SPEC`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from phobos_nb.language.registry import Attribute, Attributes


@cache
def table() -> Attributes:
    """Every attribute by its name, in alphabetical order."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.ispkg)
    specs: list[Attribute] = [importlib.import_module(f"{__name__}.{name}").SPEC for name in names]
    return {spec.name: spec for spec in specs}
