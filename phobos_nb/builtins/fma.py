"""The built-in `fma`."""

from __future__ import annotations

from phobos_nb.builtins.families.elementwise import check, computed
from phobos_nb.builtins.families.lowering import not_lowered
from phobos_nb.language.meaning import floats
from phobos_nb.language.registry import Builtin

SPEC = Builtin(
    name="fma",
    group="elementwise",
    signature="fma(a, b, c)",
    doc="a * b + c, rounded once (f16 and bf16: once in f32 and once to the type).",
    check=check(3, "float"),
    reference=computed(floats.fma),
    build=not_lowered,
)
