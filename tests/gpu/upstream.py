"""Launching PTX of upstream's own pipeline: one memref descriptor per tensor.

A rank-1 `memref<?xT>` argument becomes five parameters of the entry (LLVM lowering of the MemRef type,
"Default Calling Convention"): allocated pointer, aligned pointer, offset, size, stride.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

from phobos_nb.contract import EntryArgument, LaunchContract
from phobos_nb.cuda.driver import driver_api, explained
from phobos_nb.cuda.loading import LoadedKernel, load_kernel

SCALARS = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i32": ctypes.c_int32, "i64": ctypes.c_int64}


def launch(
    ptx: bytes,
    contract: LaunchContract,
    arrays: Mapping[str, Any],
    extents: Mapping[str, int],
    scalars: Mapping[str, float],
    grid: tuple[int, int, int],
) -> None:
    """Load and start once on the null stream, then wait."""
    if 0 in grid:
        return
    kernel = _loaded(ptx, contract.entry, lambda: load_kernel(ptx, contract))
    values: list[Any] = []
    for argument in contract.arguments:
        values += _parameters(argument, arrays, extents, scalars)
    table = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
    shared = contract.shared_bytes if contract.dynamic_shared else 0
    driver = driver_api()
    with explained(contract, "run"):
        driver.launchKernel(
            kernel.function, *grid, contract.threads, 1, 1, shared, 0, ctypes.addressof(table), 0
        )
        from cupy_backends.cuda.api import runtime

        runtime.deviceSynchronize()


_KERNELS: dict[tuple[bytes, str], LoadedKernel] = {}


def _loaded(ptx: bytes, entry: str, load: Callable[[], LoadedKernel]) -> LoadedKernel:
    """Each text is loaded once: the driver compiles PTX anew for every module."""
    if (ptx, entry) not in _KERNELS:
        _KERNELS[ptx, entry] = load()
    return _KERNELS[ptx, entry]


def _parameters(
    argument: EntryArgument,
    arrays: Mapping[str, Any],
    extents: Mapping[str, int],
    scalars: Mapping[str, float],
) -> list[Any]:
    index = ctypes.c_int64  # whatever the kernel's own index width
    if argument.kind == "pointer":
        array = arrays[argument.name]
        address = ctypes.c_uint64(array.data.ptr)
        return [address, address, index(0), index(array.size), index(1)]
    if argument.kind == "extent":
        return [index(extents[argument.name])]
    if argument.kind == "stride":
        array = arrays[argument.name]
        return [index(array.strides[argument.axis] // array.itemsize)]
    return [SCALARS[argument.dtype](scalars[argument.name])]
