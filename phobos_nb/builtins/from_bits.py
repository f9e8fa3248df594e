"""The built-in `from_bits`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.patterns import FLOAT_OF, check, reference
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
    name="from_bits",
    group="bits",
    signature="from_bits(x: i32) -> f32, from_bits(x: i64) -> f64",
    doc="The float of a bit pattern.",
    check=check(FLOAT_OF),
    reference=reference,
    build=build,
    zero_preserving=True,
)
