"""What a user would pick instead: cuBLAS through CuPy, torch where it is installed.

Every function takes the CuPy arrays of one call by parameter name, and returns contenders by name:
functions that compute the same outputs into the same arrays on the current stream.
"""

from __future__ import annotations

import importlib
import warnings
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
    """The same memory as torch tensors, scalars left out."""
    return {n: torch().from_dlpack(a) for n, a in arrays.items() if hasattr(a, "__dlpack__")}


def saxpy(arrays: Arrays, a: float) -> Contenders:
    """cublasSaxpy; torch's in-place multiply-add; CuPy's generated kernel."""
    x, y = arrays["X"], arrays["Y"]
    fused = cupy().ElementwiseKernel("T a, T x", "T y", "y = a * x + y", "saxpy_peer")
    factor = x.dtype.type(a)
    found: Contenders = {"cublasSaxpy": cublas_saxpy(x, y, a), "cupy": lambda: fused(factor, x, y)}
    if torch() is not None:
        t = tensors(arrays)
        found["torch"] = lambda: t["Y"].add_(t["X"], alpha=a)
    return found


def cublas_saxpy(x: Any, y: Any, a: float) -> Work:
    """Y = a * X + Y by cublasSaxpy on contiguous CuPy arrays of f32, on CuPy's current stream."""
    import numpy as np

    module = cupy()
    cublas = importlib.import_module("cupy_backends.cuda.libs.cublas")
    handle = module.cuda.device.get_cublas_handle()
    factor, stream = np.array([a], np.float32), module.cuda.get_current_stream
    address, size = factor.ctypes.data, x.size

    def run(keep: Any = factor) -> None:  # noqa: ARG001 - keeps the factor's memory alive
        cublas.setStream(handle, stream().ptr)
        cublas.saxpy(handle, size, address, x.data.ptr, 1, y.data.ptr, 1)

    return run


def transpose(arrays: Arrays) -> Contenders:
    """Copy of a transposed view by torch, else by CuPy."""
    if torch() is None:
        return {"cupy": lambda: cupy().copyto(arrays["B"], arrays["A"].T)}
    t = tensors(arrays)
    return {"torch": lambda: t["B"].copy_(t["A"].t())}


def softmax(arrays: Arrays) -> Contenders:
    """torch.softmax over the last axis, else the same in CuPy's operations."""
    if torch() is None:
        return {"cupy": lambda: cupy().copyto(arrays["Y"], cupy_softmax(arrays["X"]))}
    t = tensors(arrays)
    return {"torch": lambda: torch().softmax(t["X"], -1, out=t["Y"])}


def cupy_softmax(x: Any) -> Any:
    """Softmax over the last axis, operation by operation."""
    e = cupy().exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(arrays: Arrays, eps: float) -> Contenders:
    """Torch's layer norm, in the form that writes into given arrays, else CuPy's operations."""
    if torch() is None:
        return {"cupy": lambda: cupy().copyto(arrays["Y"], cupy_layer_norm(arrays, eps))}
    t = tensors(arrays)
    norm = torch().ops.aten.native_layer_norm
    shape = [arrays["W"].shape[0]]
    mean = torch().empty(arrays["X"].shape[0], 1, device="cuda")
    rstd = torch().empty_like(mean)
    return {
        "torch": lambda: norm.out(t["X"], shape, t["W"], t["B"], eps, out0=t["Y"], out1=mean, out2=rstd)
    }


def cupy_layer_norm(arrays: Arrays, eps: float) -> Any:
    """Layer norm over the last axis, operation by operation."""
    x = arrays["X"] - arrays["X"].mean(axis=-1, keepdims=True)
    scale = 1 / cupy().sqrt((x * x).mean(axis=-1, keepdims=True) + x.dtype.type(eps))
    return x * scale * arrays["W"] + arrays["B"]


def attention(arrays: Arrays, scale: float) -> Contenders:
    """Torch's scaled_dot_product_attention by each back end that takes the dtype, on [1, H, N, D].

    They allocate their result, so each also pays for a copy of it into O. Without torch it is two
    batched products by cuBLAS and a softmax, all scores in memory, by CuPy.
    """
    if torch() is None:
        return {"cupy": lambda: cupy().copyto(arrays["O"], cupy_attention(arrays, scale))}
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


def cupy_attention(arrays: Arrays, scale: float) -> Any:
    """softmax(scale * Q K^T) V with all scores in memory."""
    q, k, v = arrays["Q"], arrays["K"], arrays["V"]
    scores = q.dtype.type(scale) * (q @ k.swapaxes(-1, -2))
    return cupy_softmax(scores) @ v


def _works(work: Work) -> bool:
    """Whether a back end takes these arrays; torch says no by warnings and a RuntimeError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work()
    except RuntimeError:
        return False
    return True
