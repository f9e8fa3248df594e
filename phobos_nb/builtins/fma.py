"""The built-in `fma`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.elementwise import check, computed
from phobos_nb.language.meaning import floats
from phobos_nb.language.registry import Builtin
from phobos_nb.language.typed import Call

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
    """One `math.fma`, for f16 and bf16 in f32."""
    from phobos_nb.ir.elementwise import fused

    return fused(builder, operands.dtype_of(call), values)


SPEC = Builtin(
    name="fma",
    group="elementwise",
    signature="fma(a, b, c)",
    doc="a * b + c, rounded once (f16 and bf16: once in f32 and once to the type).",
    check=check(3, "float"),
    reference=computed(floats.fma),
    build=build,
)
