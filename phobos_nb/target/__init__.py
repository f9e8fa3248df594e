"""GPU architectures: one file each, facts only; this file finds them by name or capability."""

from __future__ import annotations

import importlib
import pkgutil
from difflib import get_close_matches
from functools import cache

from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.options import environment
from phobos_nb.target.facts import Banks, Card, Target

__all__ = ["Banks", "Card", "Target", "default", "for_capability", "get", "names"]

ALIASES = {"sm_90": "sm_90a"}
"""Names accepted for another target; the reason stands in that target's file."""


@cache
def _targets() -> dict[str, Target]:
    files = [m.name for m in pkgutil.iter_modules(__path__) if m.name.startswith("sm_")]
    modules = [importlib.import_module(f"{__name__}.{file}") for file in files]
    found: list[Target] = sorted((m.TARGET for m in modules), key=lambda t: t.capability)
    return {t.name: t for t in found}


def names() -> tuple[str, ...]:
    """The names of all targets, oldest first."""
    return tuple(_targets())


def get(name: str) -> Target:
    """The target of that name or alias; `PhobosError` PH408 when there is none."""
    targets = _targets()
    found = targets.get(ALIASES.get(name, name))
    if found is None:
        message = f"unknown target {name!r}"
        close = get_close_matches(str(name), targets, n=1)
        meant = f"did you mean {close[0]}? " if close else ""
        help = f"{meant}known targets: {', '.join(targets)}"
        raise PhobosError([Diagnostic("PH408", message, stage="target", help=help)])
    return found


def default() -> Target:
    """The target when nobody chose and no GPU was asked: PHOBOS_CHIP, else sm_80."""
    return get(environment().chip or "sm_80")


def for_capability(major: int, minor: int) -> Target | None:
    """The newest target whose cubin a GPU of that compute capability runs, None when there is none.

    A cubin runs on its own major capability and the same or a later minor (CUDA C++ Programming
    Guide, "Binary Compatibility"); an architecture-specific one (`sm_90a`) on its own capability alone.
    """

    def runs(target: Target) -> bool:
        if target.nvrtc_arch.endswith("a"):
            return target.capability == (major, minor)
        return target.capability[0] == major and target.capability[1] <= minor

    return next((t for t in reversed(_targets().values()) if runs(t)), None)
