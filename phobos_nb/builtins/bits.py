"""The built-in `bits`."""

from __future__ import annotations

from phobos_nb.builtins.families.lowering import not_lowered
from phobos_nb.builtins.families.patterns import INTEGER_OF, check, reference
from phobos_nb.language.registry import Builtin

SPEC = Builtin(
    name="bits",
    group="bits",
    signature="bits(x: f32) -> i32, bits(x: f64) -> i64",
    doc="The bit pattern of a float as an integer of its width.",
    check=check(INTEGER_OF),
    reference=reference,
    build=not_lowered,
    zero_preserving=True,
)
