"""What a user would pick instead: cuBLAS through CuPy, torch where it is installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from phobos_nb.cuda.driver import cupy

Work = Callable[[], object]
Arrays = Mapping[str, Any]

_R_32F, _R_16F = 0, 2
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
    scale = np.float16 if compute == "16F" else np.float32
    factors = np.array([alpha, beta], scale)
    pointers = factors.ctypes.data, factors.ctypes.data + factors.itemsize
    kind = {"float32": _R_32F, "float16": _R_16F}
    types = [kind[x.dtype.name] for x in (a, b, c)]
    stream, code = module.cuda.get_current_stream, COMPUTE[compute]

    def run(keep: Any = factors) -> None:
        cublas.setStream(handle, stream().ptr)
        cublas.gemmEx(
            handle, 0, 0, n, m, k, pointers[0], b.data.ptr, types[1], n, a.data.ptr, types[0], k,
            keep.ctypes.data + keep.itemsize, c.data.ptr, types[2], n, code, -1,
        )  # fmt: skip

    return run


def torch_peer(make: Callable[[Any, Arrays], Work], arrays: Arrays) -> Work | None:
    """A contender made by `make(torch, tensors)` over the same memory; None without torch."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return None
    tensors = {name: torch.from_dlpack(array) for name, array in arrays.items()}
    return make(torch, tensors)
