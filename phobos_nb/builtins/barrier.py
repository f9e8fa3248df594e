"""The built-in `barrier`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from phobos_nb.builtins.families import operands
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call
from phobos_nb.language.types import VoidType

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def check(site: CallSite) -> Call:
    """No arguments; that control flow is uniform is the checker's business."""
    operands.expect_count(site, 0)
    return Call(type=VoidType(), span=site.span, builtin=site.name, arguments=())


def reference(machine: Any, call: Call) -> None:
    """Nothing to wait for: the meaning runs the threads of a CTA in step."""


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> None:  # noqa: ARG001
    """One `gpu.barrier`, which no pass removes."""
    from xdsl.dialects.builtin import StringAttr

    from phobos_nb.ir.dialects.gpu import REASON, BarrierOp

    made = builder.insert(BarrierOp())
    made.attributes[REASON] = StringAttr("barrier() in the source")


SPEC = Builtin(
    name="barrier",
    group="CTA",
    signature="barrier()",
    doc="Waits for all threads of the CTA and orders their accesses to shared and global memory.",
    check=check,
    reference=reference,
    build=build,
    pure=False,
)
