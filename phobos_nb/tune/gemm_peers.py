"""cuBLAS for any kernel with a GEMM's signature, by the precision that the kernel has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from phobos_nb.contract import TensorParameter
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.language.typed import TypedKernel


@dataclass(frozen=True)
class Gemm:
    """The roles of a GEMM's parameters, by name; alpha and beta are empty where there are none."""

    a: str
    b: str
    c: str
    alpha: str
    beta: str


def recognise(typed: TypedKernel) -> Gemm | None:
    """C[M, N] = alpha * A[M, K] @ B[K, N] + beta * C by the signature; None for anything else."""
    tensors = typed.tensor_parameters
    written = [t for t in tensors if t.writes]
    read = [t for t in tensors if not t.writes]
    if len(written) != 1 or len(read) != 2 or any(len(t.dims) != 2 for t in tensors):
        return None
    a, b, c = read[0], read[1], written[0]
    if (a.dims[0], b.dims[1]) != c.dims or a.dims[1] != b.dims[0] or a.dims[1] in c.dims:
        return None
    scalars = [p.name for p in typed.scalars]
    if not set(scalars) <= {"alpha", "beta"}:
        return None
    alpha = "alpha" if "alpha" in scalars else ""
    return Gemm(a.name, b.name, c.name, alpha, "beta" if "beta" in scalars else "")


OTHER_PRECISION = "(other precision)"
"""How the name of a peer ends that computes in another precision than the kernel."""


def modes(typed: TypedKernel, gemm: Gemm) -> dict[str, str]:
    """Contender name -> compute type; another precision than the kernel's is named as such."""
    dtypes = {p.name: p.dtype for p in typed.parameters if isinstance(p, TensorParameter)}
    if {dtypes[gemm.a], dtypes[gemm.b]} == {"f16"}:
        return {"cublas f16, f32 sums": "32F"}
    if any(use.name == "tensorcore" for use in typed.attributes):
        return {
            "cublas f32 rounded to f16": "32F_FAST_16F",
            f"cublas TF32 {OTHER_PRECISION}": "32F_FAST_TF32",
        }
    return {"cublasSgemm": "32F", f"cublas TF32 {OTHER_PRECISION}": "32F_FAST_TF32"}


def cublas(
    typed: TypedKernel, arrays: Mapping[str, Any], scalars: Mapping[str, Any]
) -> dict[str, Callable[[], object]]:
    """Contenders over copies of the call's arrays; `PhobosError` PH402 where cuBLAS has no such GEMM."""
    gemm = recognise(typed)
    dtypes = {p.dtype for p in typed.tensor_parameters}
    if gemm is None or not dtypes <= {"f32", "f16"}:
        message = f"against='cublas': {typed.name} is no GEMM of f32 or f16 matrices"
        help = "give functions by name: against={'mine': run}"
        raise PhobosError([Diagnostic("PH402", message, stage="tune", help=help)])
    from phobos_nb.cuda.driver import cupy
    from phobos_nb.cuda.peers import cublas_gemm

    module = cupy()
    a, b, c = (_copied(arrays[n], module) for n in (gemm.a, gemm.b, gemm.c))
    alpha = scalars.get(gemm.alpha, 1.0)
    beta = scalars.get(gemm.beta, 0.0)
    return {
        name: cublas_gemm(a, b, c, float(alpha), float(beta), mode)
        for name, mode in modes(typed, gemm).items()
    }


def _copied(array: Any, module: Any) -> Any:
    """A C-contiguous copy on the current GPU, wherever the array is."""
    own = array if isinstance(array, module.ndarray) else module.from_dlpack(array)
    with own.device:
        own = module.ascontiguousarray(own)
    return own.copy()
