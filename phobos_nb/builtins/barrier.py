"""The built-in `barrier`."""

from __future__ import annotations

from typing import Any

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.lowering import not_lowered
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call
from phobos_nb.language.types import VoidType


def check(site: CallSite) -> Call:
    """No arguments; that control flow is uniform is the checker's business."""
    operands.expect_count(site, 0)
    return Call(type=VoidType(), span=site.span, builtin=site.name, arguments=())


def reference(machine: Any, call: Call) -> None:
    """Nothing to wait for: the meaning runs the threads of a CTA in step."""


SPEC = Builtin(
    name="barrier",
    group="CTA",
    signature="barrier()",
    doc="Waits for all threads of the CTA and orders their accesses to shared and global memory.",
    check=check,
    reference=reference,
    build=not_lowered,
    pure=False,
)
