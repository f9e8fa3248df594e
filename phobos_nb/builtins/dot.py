"""The built-in `dot`."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from phobos_nb.builtins.families import dots, lowering, operands
from phobos_nb.language.registry import Builtin
from phobos_nb.language.typed import Call


def reference(machine: Any, call: Call, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """a: [m, k], b: [k, n] -> [m, n]."""
    return dots.product(machine, a, b, operands.dtype_of(call))


SPEC = Builtin(
    name="dot",
    group="matrix",
    signature="dot(a: tile[M, K], b: tile[K, N]) -> tile[M, N]",
    doc="The product; f16, bf16 and f32 sum in f32, f64 in f64, integers in i32.",
    check=dots.check(transposed=False),
    reference=reference,
    build=lowering.dot(transposed=False),
)
