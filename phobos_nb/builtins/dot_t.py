"""The built-in `dot_t`."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from phobos_nb.builtins.families import dots, lowering, operands
from phobos_nb.language.registry import Builtin
from phobos_nb.language.typed import Call


def reference(machine: Any, call: Call, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """a: [m, k], b: [n, k] -> [m, n]."""
    return dots.product(machine, a, b.T, operands.dtype_of(call))


SPEC = Builtin(
    name="dot_t",
    group="matrix",
    signature="dot_t(a: tile[M, K], b: tile[N, K]) -> tile[M, N]",
    doc="The product with b transposed; f16, bf16 and f32 sum in f32, f64 in f64, integers in i32.",
    check=dots.check(transposed=True),
    reference=reference,
    build=lowering.dot(transposed=True),
)
