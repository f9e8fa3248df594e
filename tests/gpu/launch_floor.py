"""What a launch costs at least: the same launch with everything prepacked, by each way to the driver."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from phobos_nb.cuda.arrays import library_of
from phobos_nb.cuda.driver import driver_api, library
from phobos_nb.cuda.plan import Dispatcher

Work = Callable[[], object]


def floors(dispatcher: Dispatcher, arguments: tuple[Any, ...]) -> dict[str, Work | None]:
    """Contenders by name: parts of our path, and launches of the same kernel without our path."""
    ready = dispatcher.ready(arguments)
    plan, library = ready.plan, library_of(ready.arrays[0])
    (kernel, grid) = plan._loaded[0]
    program = plan.program()
    program.write_addresses(*ready.addresses)
    program.write_scalars(*ready.values)
    contract = plan.contract
    shared = contract.shared_bytes if contract.dynamic_shared else 0
    table = program.start.parameters.address
    shape = (*grid, contract.threads, 1, 1, shared)
    launch, stream_of, scan = driver_api().launchKernel, library.stream, library.scan
    return {
        "floor: the timer around nothing": lambda: None,
        "floor: launchKernel of CuPy's binding, prepacked": lambda: launch(
            kernel.function, *shape, 0, table, 0
        ),
        "floor: cuLaunchKernel by ctypes, prepacked": by_ctypes(kernel.function, shape, table),
        "floor: cuLaunchKernel by cuda-python, prepacked": by_cuda_python(kernel.function, shape, table),
        "part: handle of the current stream": lambda: stream_of(0),
        "part: layout and addresses of three arrays": lambda: scan(ready.arrays, [None]),
        "part: our start, prepacked": lambda: program.start(0),
    }


def by_ctypes(function: int, shape: tuple[int, ...], table: int) -> Work:
    """The driver's function through ctypes, its arguments converted before."""
    launch = library().cuLaunchKernel
    pointer = ctypes.c_void_p
    numbers = [ctypes.c_uint(n) for n in shape]
    prepared = (pointer(function), *numbers, pointer(0), pointer(table), pointer(0))
    return lambda: launch(*prepared)


def by_cuda_python(function: int, shape: tuple[int, ...], table: int) -> Work | None:
    """The driver's function through cuda-python, None where it is not installed."""
    try:
        from cuda.bindings import driver
    except ImportError:
        return None
    handle, launch, stream = driver.CUfunction(function), driver.cuLaunchKernel, driver.CUstream(0)
    return lambda: launch(handle, *shape, stream, table, 0)
