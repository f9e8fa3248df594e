"""Code in a GPU's memory: whether it runs there, loading it, unloading what nobody holds any more."""

from __future__ import annotations

import weakref
from collections import deque
from dataclasses import dataclass

from phobos_nb.contract import LaunchContract
from phobos_nb.cuda.driver import (
    DriverError,
    capability,
    cupy,
    current_device,
    driver_api,
    during_capture,
    explained,
)
from phobos_nb.diagnostics import Diagnostic
from phobos_nb.target import Target, get


def runs_cubin(target: Target, device_capability: tuple[int, int]) -> bool:
    """Whether a GPU loads this target's cubin: same major and no older minor, `a` targets exactly."""
    if target.nvrtc_arch.endswith("a"):
        return target.capability == device_capability
    return target.capability[0] == device_capability[0] and target.capability <= device_capability


def runs_ptx(target: Target, device_capability: tuple[int, int]) -> bool:
    """Whether a GPU's driver compiles this target's PTX: any newer GPU, unless it is an `a` target."""
    if target.nvrtc_arch.endswith("a"):
        return target.capability == device_capability
    return target.capability <= device_capability


@dataclass(frozen=True)
class LoadedKernel:
    """A kernel in a GPU's memory: the driver's handles."""

    module: int
    function: int
    registers: int


MOST_RETIRED = 64
"""Modules that stay loaded after their last holder is gone: a captured graph may still launch them."""

_retired: deque[tuple[int, int]] = deque()
"""(GPU, module) of kernels that were dropped, oldest first."""


def load_kernel(image: bytes, contract: LaunchContract) -> LoadedKernel:
    """Load a cubin or PTX text on the current GPU and make the shared-memory opt-in it needs."""
    driver = driver_api()
    with during_capture(), explained(contract, "load"):
        cupy().cuda.runtime.free(0)  # makes the primary context
        _unload_retired()
        module = driver.moduleLoadData(image + b"\0")
        function = driver.moduleGetFunction(module, contract.entry)
        if contract.dynamic_shared:
            attribute = driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            driver.funcSetAttribute(function, attribute, contract.shared_bytes)
        registers = driver.funcGetAttribute(driver.CU_FUNC_ATTRIBUTE_NUM_REGS, function)
    kernel = LoadedKernel(module, function, registers)
    weakref.finalize(kernel, _retired.append, (current_device(), module)).atexit = False
    return kernel


def _unload_retired() -> None:
    """Unload the oldest dropped modules; here, since a finaliser may run at any time."""
    while len(_retired) > MOST_RETIRED:
        device, module = _retired.popleft()
        with cupy().cuda.Device(device):
            driver_api().moduleUnload(module)


def check_target(contract: LaunchContract, device: int) -> bool:
    """Whether the cubin (True) or the PTX (False) is to be loaded; `DriverError` if neither runs."""
    target, have = get(contract.target), capability(device)
    if runs_cubin(target, have):
        return True
    if runs_ptx(target, have):
        return False
    gpu = f"GPU {device} has capability {have[0]}.{have[1]}"
    message = f"{contract.kernel} is compiled for {target.name}, {gpu}"
    raise DriverError(
        [Diagnostic("PH605", message, stage="driver", help="compile it for this GPU's chip")]
    )
