"""Arrays that live on a GPU: CuPy's, torch's, and whatever speaks the CUDA array interface or DLPack."""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from phobos_nb.arguments.array import ArrayDescription, dtype_name
from phobos_nb.cuda.driver import cupy

DLPACK_CUDA = (2, 13)
"""kDLCUDA and kDLCUDAManaged of dlpack.h."""

_TORCH_NAMES = {
    "torch.float16": "f16",
    "torch.bfloat16": "bf16",
    "torch.float32": "f32",
    "torch.float64": "f64",
    "torch.int8": "i8",
    "torch.uint8": "u8",
    "torch.int32": "i32",
    "torch.int64": "i64",
    "torch.bool": "bool",
}


Scan = Callable[[Sequence[Any], list[Hashable]], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Library:
    """How the arrays of one library are read on the hot path.

    scan(arrays, key): their device addresses, each that of the element at index 0; appends to `key`
    all else that the checks depend on. describe(a): for the checks themselves. device(a): GPU ordinal.
    stream(device): the handle of the library's current stream there.
    """

    name: str
    scan: Scan
    describe: Callable[[Any], ArrayDescription]
    device: Callable[[Any], int]
    stream: Callable[[int], int]


def on_gpu(value: Any) -> bool:
    """Whether a value is an array in GPU memory. Imports nothing."""
    if _is_torch(value):
        return bool(value.is_cuda)
    if hasattr(value, "__dlpack_device__"):
        return int(value.__dlpack_device__()[0]) in DLPACK_CUDA
    return _has_cuda_interface(value)


def _is_torch(value: Any) -> bool:
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _has_cuda_interface(value: Any) -> bool:
    return hasattr(value.__class__, "__cuda_array_interface__")


def adopt(value: Any) -> Any:
    """The same memory as an array whose library is known: CuPy or torch; others become CuPy views."""
    module = cupy()
    if isinstance(value, module.ndarray) or _is_torch(value):
        return value
    if _has_cuda_interface(value):
        return module.asarray(value)
    return module.from_dlpack(value)


def library_of(value: Any) -> Library:
    """The library of an adopted array; CuPy's for anything but torch's."""
    return _torch_library() if _is_torch(value) else _cupy_library()


# CuPy ---------------------------------------------------------------------------------------------


@cache
def _cupy_library() -> Library:
    return Library(
        "cupy",
        scan=_scan_cupy,
        describe=_describe_cupy,
        device=lambda a: a.data.device_id,
        stream=_cupy_stream_getter(),
    )


def _cupy_stream_getter() -> Callable[[int], int]:
    """CuPy's current stream; its handle as CuPy's own launches read it, without a `Stream` object.

    The function is one that CuPy's extension modules share through Cython's `__pyx_capi__`.
    """
    try:
        shared = importlib.import_module("cupy_backends.cuda.stream").__pyx_capi__
        get = _c_function(shared["get_current_stream_ptr"], b"intptr_t (void)")
    except (AttributeError, KeyError, ValueError):
        current = cupy().cuda.get_current_stream
        return lambda device: current().ptr  # noqa: ARG005 - it follows the current device
    return lambda device: get()  # noqa: ARG005


def _c_function(capsule: Any, signature: bytes) -> Callable[[], int]:
    """A C function without arguments; `ValueError` where its signature is another."""
    unwrap = ctypes.pythonapi.PyCapsule_GetPointer
    unwrap.restype, unwrap.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.PYFUNCTYPE(ctypes.c_ssize_t)(unwrap(capsule, signature))


def _scan_cupy(arrays: Sequence[Any], key: list[Hashable]) -> tuple[int, ...]:
    addresses: list[int] = []
    for a in arrays:
        memory = a.data
        address = memory.ptr
        addresses.append(address)
        key += (a.shape, a.strides, a.dtype, address & 15, memory.device_id)
    return tuple(addresses)


def _describe_cupy(a: Any) -> ArrayDescription:
    name = dtype_name(a.dtype.name, a.dtype.isnative)
    return ArrayDescription(name, a.shape, a.strides, a.data.ptr, a.itemsize, True, "cupy.ndarray")


# torch --------------------------------------------------------------------------------------------


@cache
def _torch_library() -> Library:
    torch = sys.modules["torch"]
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # what torch's own compilers call
    slow = torch.cuda.current_stream
    return Library(
        "torch",
        scan=_scan_torch,
        describe=_describe_torch,
        device=lambda a: a.get_device(),
        stream=raw or (lambda device: slow(device).cuda_stream),
    )


def _scan_torch(arrays: Sequence[Any], key: list[Hashable]) -> tuple[int, ...]:
    addresses: list[int] = []
    for a in arrays:
        address = a.data_ptr()
        addresses.append(address)
        key += (a.shape, a.stride(), a.dtype, address & 15, a.get_device(), a.requires_grad)
    return tuple(addresses)


def _describe_torch(a: Any) -> ArrayDescription:
    size = a.element_size()
    return ArrayDescription(
        _TORCH_NAMES.get(str(a.dtype), str(a.dtype)),
        tuple(a.shape),
        tuple(s * size for s in a.stride()),
        a.data_ptr(),
        size,
        not a.requires_grad,
        "torch.Tensor",
    )


# Copies -------------------------------------------------------------------------------------------


def to_device(array: Any) -> Any:
    """A CuPy copy of a NumPy array; bf16 keeps its bits."""
    module = cupy()
    if array.dtype.name == "bfloat16":
        return module.asarray(array.view("uint16")).view(array.dtype)
    return module.asarray(array)


def to_host(array: Any) -> Any:
    """A NumPy copy of a CuPy array, after everything queued before it on the current stream."""
    return cupy().asnumpy(array)
