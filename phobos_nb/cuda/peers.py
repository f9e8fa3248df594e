"""What a user would pick instead: cuBLAS through CuPy, torch where it is installed.

Every function takes the CuPy arrays of one call by parameter name, and returns contenders by name:
functions that compute the same outputs into the same arrays on the current stream.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from phobos_nb.cuda.driver import cupy

Work = Callable[[], object]
Arrays = Mapping[str, Any]
Contenders = dict[str, Work]

_CUDA_TYPES = {"float32": 0, "float16": 2}
"""cudaDataType of library_types.h."""

COMPUTE = {"32F": 68, "16F": 64, "32F_FAST_16F": 74, "32F_FAST_16BF": 75, "32F_FAST_TF32": 77}
"""cublasComputeType_t of cublas_api.h."""


def cublas_gemm(a: Any, b: Any, c: Any, alpha: float, beta: float, compute: str = "32F") -> Work:
    """C = alpha * A @ B + beta * C by cublasGemmEx on C-contiguous CuPy arrays of f32 or f16.

    Row-major C is column-major C^T = B^T A^T, so the operands are swapped. A call launches on
    CuPy's current stream.
    """
    import numpy as np

    module = cupy()
    cublas = importlib.import_module("cupy_backends.cuda.libs.cublas")
    handle = module.cuda.device.get_cublas_handle()
    (m, k), n = a.shape, b.shape[1]
    factors = np.array([alpha, beta], np.float16 if compute == "16F" else np.float32)
    first, second = factors.ctypes.data, factors.ctypes.data + factors.itemsize
    kinds = [_CUDA_TYPES[x.dtype.name] for x in (a, b, c)]
    stream, code = module.cuda.get_current_stream, COMPUTE[compute]

    def run(keep: Any = factors) -> None:  # noqa: ARG001 - keeps the factors' memory alive
        cublas.setStream(handle, stream().ptr)
        cublas.gemmEx(
            handle, 0, 0, n, m, k, first, b.data.ptr, kinds[1], n, a.data.ptr, kinds[0], k,
            second, c.data.ptr, kinds[2], n, code, -1,
        )  # fmt: skip

    return run


def gemm(arrays: Arrays, alpha: float, beta: float, modes: Mapping[str, str]) -> Contenders:
    """CuBLAS in several compute modes: contender name -> compute type."""
    a, b, c = arrays["A"], arrays["B"], arrays["C"]
    return {name: cublas_gemm(a, b, c, alpha, beta, mode) for name, mode in modes.items()}


@cache
def torch() -> Any:
    """torch, or None where it is not installed or sees no GPU."""
    try:
        module = importlib.import_module("torch")
    except ImportError:
        return None
    return module if module.cuda.is_available() else None


def tensors(arrays: Arrays) -> dict[str, Any]:
    """The same memory as torch tensors."""
    return {name: torch().from_dlpack(array) for name, array in arrays.items()}


def saxpy(arrays: Arrays, a: float) -> Contenders:
    """Torch's in-place multiply-add; CuPy's generated kernel."""
    x, y = arrays["X"], arrays["Y"]
    fused = cupy().ElementwiseKernel("T a, T x", "T y", "y = a * x + y", "saxpy_peer")
    factor = x.dtype.type(a)
    found: Contenders = {"cupy": lambda: fused(factor, x, y)}
    if torch() is not None:
        t = tensors(arrays)
        found["torch"] = lambda: t["Y"].add_(t["X"], alpha=a)
    return found


def transpose(arrays: Arrays) -> Contenders:
    """Torch's copy of a transposed view."""
    if torch() is None:
        return {}
    t = tensors(arrays)
    return {"torch": lambda: t["B"].copy_(t["A"].t())}


def softmax(arrays: Arrays) -> Contenders:
    """torch.softmax over the last axis."""
    if torch() is None:
        return {}
    t = tensors(arrays)
    return {"torch": lambda: torch().softmax(t["X"], -1, out=t["Y"])}


def layer_norm(arrays: Arrays, eps: float) -> Contenders:
    """Torch's layer norm, in the form that writes into given arrays."""
    if torch() is None:
        return {}
    t = tensors(arrays)
    norm = torch().ops.aten.native_layer_norm
    shape = [arrays["W"].shape[0]]
    mean = torch().empty(arrays["X"].shape[0], 1, device="cuda")
    rstd = torch().empty_like(mean)
    return {
        "torch": lambda: norm.out(t["X"], shape, t["W"], t["B"], eps, out0=t["Y"], out1=mean, out2=rstd)
    }


def attention(arrays: Arrays, scale: float) -> Contenders:
    """Torch's scaled_dot_product_attention by each back end that takes the dtype, on [1, H, N, D].

    They allocate their result, so each also pays for a copy of it into O.
    """
    if torch() is None:
        return {}
    attend = importlib.import_module("torch.nn.attention")
    t = {name: x[None] for name, x in tensors(arrays).items()}
    call = torch().nn.functional.scaled_dot_product_attention
    found: Contenders = {}
    for label, backend in (
        ("torch flash", attend.SDPBackend.FLASH_ATTENTION),
        ("torch cudnn", attend.SDPBackend.CUDNN_ATTENTION),
        ("torch efficient", attend.SDPBackend.EFFICIENT_ATTENTION),
    ):

        def run(backend: Any = backend) -> None:
            with attend.sdpa_kernel(backend):
                t["O"].copy_(call(t["Q"], t["K"], t["V"], scale=scale))

        if _works(run):
            found[label] = run
    return found


def _works(work: Work) -> bool:
    """Whether a back end takes these arrays; torch says no by raising RuntimeError."""
    try:
        work()
    except RuntimeError:
        return False
    return True
