"""Which GPU, and which NVRTC, a measurement is about."""

from __future__ import annotations

from functools import cache

from phobos_nb.cuda import nvrtc
from phobos_nb.cuda.driver import cupy


@cache
def device_name(device: int) -> str:
    """The product name of a GPU, such as "NVIDIA H200"."""
    return cupy().cuda.runtime.getDeviceProperties(device)["name"].decode()


@cache
def device_uuid(device: int) -> str:
    """A GPU's UUID as `nvidia-smi -L` writes it: the same whatever its ordinal in a process is."""
    digits = bytes(cupy().cuda.runtime.getDeviceProperties(device)["uuid"])[:16].hex()
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return f"GPU-{'-'.join(parts)}"


def nvrtc_version() -> str:
    """Such as "13.0"; `PhobosError` PH601 without NVRTC."""
    major, minor = nvrtc.version()
    return f"{major}.{minor}"
