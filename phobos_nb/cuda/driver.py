"""The CUDA driver through CuPy: which GPU there is, loading code, and errors in clear words."""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

from phobos_nb.contract import LaunchContract
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.target import for_capability


class DriverError(PhobosError, RuntimeError):
    """The CUDA driver refused or a kernel failed on the GPU."""


class MissingCuPyError(PhobosError, ImportError):
    """A GPU call needs CuPy, which is not installed."""


FATAL = {
    700: "illegal memory access",
    710: "device-side assert",
    714: "hardware stack error",
    715: "illegal instruction",
    716: "misaligned address",
    717: "invalid address space",
    718: "invalid program counter",
    719: "unspecified launch failure",
}
"""Driver statuses after which the context is lost (CUDA driver API, CUresult)."""

recent_launches: deque[LaunchContract] = deque(maxlen=3)
"""The last kernels that were started, newest last: a fault shows only at a later call."""


@cache
def cupy() -> Any:
    """CuPy, or `MissingCuPyError` with what to install."""
    try:
        return importlib.import_module("cupy")
    except ImportError as error:
        help = 'pip install "phobos_nb[cu13]" (driver 580 or newer), else "phobos_nb[cu12]"'
        message = f"arrays on the GPU need CuPy ({error})"
        raise MissingCuPyError([Diagnostic("PH604", message, stage="driver", help=help)]) from None


@cache
def driver_api() -> Any:
    """CuPy's thin binding of the driver API; each call raises on a bad status."""
    cupy()
    return importlib.import_module("cupy_backends.cuda.api.driver")


def current_device() -> int:
    """The ordinal of the calling thread's current GPU."""
    return int(cupy().cuda.runtime.getDevice())


@cache
def capability(device: int) -> tuple[int, int]:
    """The compute capability of a GPU."""
    digits = str(cupy().cuda.Device(device).compute_capability)
    return int(digits[:-1]), int(digits[-1])


def native_chip() -> str | None:
    """The target of the current GPU, None where there is no GPU or it is not supported.

    Needs no CuPy, and does not load it: without it the first GPU counts as the current one.
    """
    if "cupy" in sys.modules and driver_version() is not None:
        found = capability(current_device())
    else:
        found = first_capability()
    target = for_capability(*found) if found else None
    return target.name if target else None


@contextmanager
def during_capture() -> Generator[None]:
    """Allow what a graph capture of this thread would refuse: loading code and allocating memory.

    Neither becomes part of the graph (CUDA driver API, cuThreadExchangeStreamCaptureMode).
    """
    mode = ctypes.c_int(_RELAXED)
    library().cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))
    try:
        yield
    finally:
        library().cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))


_RELAXED = 2
"""CU_STREAM_CAPTURE_MODE_RELAXED of cuda.h."""


@contextmanager
def explained(contract: LaunchContract, action: str) -> Generator[None]:
    """Turn the errors of CuPy's driver and runtime calls into `DriverError`."""
    try:
        yield
    except RuntimeError as error:
        status = getattr(error, "status", None)
        if isinstance(error, PhobosError) or status is None:
            raise
        raise explain(contract, action, int(status), str(error)) from None


def explain(contract: LaunchContract, action: str, status: int, text: str) -> DriverError:
    """The error for a driver status met while doing `action` ("load", "start") to a kernel."""
    size = f"{contract.threads} threads, {contract.shared_bytes} B shared"
    where = f"{contract.kernel} ({contract.target}, {size})"
    if status in FATAL:
        return _lost_context(action, where, status)
    message = f"the driver could not {action} {where}: {text}"
    help = {
        209: "the cubin is for another GPU: compile for this one's chip",
        218: f"the driver could not compile the PTX; {versions()}",
        222: f"NVRTC is newer than the driver: {versions()}; install the [cu12] extra or a newer driver",
        300: "the driver found no valid code",
        701: "too many registers, threads or too much shared memory for this GPU",
    }.get(status, "")
    return DriverError([Diagnostic("PH606", message, stage="driver", help=help)])


def _lost_context(action: str, where: str, status: int) -> DriverError:
    names = [c.kernel for c in recent_launches]
    before = f"; last started: {', '.join(names)}" if names else ""
    message = f"{FATAL[status]} on the GPU, seen when about to {action} {where}{before}"
    help = (
        "the CUDA context is lost: restart the kernel (the Jupyter one). An earlier launch faulted; "
        "compile with debug=True to stop at the launch that does it, or run it with .simulate(...)"
    )
    return DriverError([Diagnostic("PH607", message, stage="driver", help=help)])


def versions() -> str:
    """Versions of driver and runtime, for error texts."""
    runtime = cupy().cuda.runtime
    return f"driver supports CUDA {_version(runtime.driverGetVersion())}"


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


@cache
def library() -> Any:
    """The driver's own library through ctypes, None where no driver is installed."""
    for name in ("libcuda.so.1", "libcuda.so", "nvcuda.dll"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def driver_version() -> tuple[int, int] | None:
    """The CUDA version that the installed driver supports, asked without CuPy; None without one."""
    number = ctypes.c_int(0)
    if library() is None or library().cuDriverGetVersion(ctypes.byref(number)) != 0:
        return None
    return number.value // 1000, number.value % 1000 // 10


@cache
def driver_release() -> str:
    """The installed driver's own version, such as "580.65.06", by NVML; "" where it cannot be asked."""
    for name in ("libnvidia-ml.so.1", "nvml.dll"):
        try:
            nvml = ctypes.CDLL(name)
        except OSError:
            continue
        text = ctypes.create_string_buffer(80)
        if nvml.nvmlInit_v2() == 0 and nvml.nvmlSystemGetDriverVersion(text, 80) == 0:
            return text.value.decode()
    return ""


@cache
def first_capability() -> tuple[int, int] | None:
    """The compute capability of GPU 0, asked without CuPy; None without a GPU."""
    driver, device = library(), ctypes.c_int(0)
    if driver is None or driver.cuInit(0) != 0 or driver.cuDeviceGet(ctypes.byref(device), 0) != 0:
        return None
    numbers = (ctypes.c_int * 2)()
    for i, attribute in enumerate(CAPABILITY_ATTRIBUTES):
        place = ctypes.byref(numbers, i * ctypes.sizeof(ctypes.c_int))
        if driver.cuDeviceGetAttribute(place, attribute, device) != 0:
            return None
    return numbers[0], numbers[1]


CAPABILITY_ATTRIBUTES = (75, 76)
"""CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR of cuda.h."""


def describe_gpus() -> list[str]:
    """One line per GPU: name, capability, SMs, memory. Needs CuPy; without it, one line says so."""
    try:
        runtime = cupy().cuda.runtime
        found = [runtime.getDeviceProperties(i) for i in range(runtime.getDeviceCount())]
    except (MissingCuPyError, RuntimeError) as error:
        return [f"not asked: {error}"]
    return [
        f"{i}: {p['name'].decode()}, capability {p['major']}.{p['minor']}, "
        f"{p['multiProcessorCount']} SMs, {p['totalGlobalMem'] / 2**30:.0f} GiB"
        for i, p in enumerate(found)
    ]


def package_versions() -> dict[str, str]:
    """Versions of what a measurement depends on; empty where a package is not there."""
    import importlib.metadata

    found: dict[str, str] = {}
    for name in ("cupy-cuda13x", "cupy-cuda12x", "torch", "triton", "nvidia-cuda-nvrtc"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = ""
    driver = driver_version()
    return {**found, "driver_cuda": f"{driver[0]}.{driver[1]}" if driver else ""}
