"""The built-in `from_bits`."""

from __future__ import annotations

from phobos_nb.builtins.families.lowering import not_lowered
from phobos_nb.builtins.families.patterns import FLOAT_OF, check, reference
from phobos_nb.language.registry import Builtin

SPEC = Builtin(
    name="from_bits",
    group="bits",
    signature="from_bits(x: i32) -> f32, from_bits(x: i64) -> f64",
    doc="The float of a bit pattern.",
    check=check(FLOAT_OF),
    reference=reference,
    build=not_lowered,
    zero_preserving=True,
)
