"""The built-in `bits`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.patterns import INTEGER_OF, check, reference
from phobos_nb.language.registry import Builtin
from phobos_nb.language.typed import Call

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from phobos_nb.ir.builder import Builder


def build(builder: Builder, call: Call, values: Sequence[SSAValue]) -> SSAValue:
    """One `arith.bitcast`."""
    from phobos_nb.ir.scalars import mlir_type

    return builder.bitcast(values[0], mlir_type(operands.dtype_of(call)))


SPEC = Builtin(
    name="bits",
    group="bits",
    signature="bits(x: f32) -> i32, bits(x: f64) -> i64",
    doc="The bit pattern of a float as an integer of its width.",
    check=check(INTEGER_OF),
    reference=reference,
    build=build,
    zero_preserving=True,
)
