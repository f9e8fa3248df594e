"""Kernels of `tests/async_kernels.py` with something missing: races that let the kernel end."""

from __future__ import annotations

from tests.async_kernels import KERNELS, named_barriers
from tests.async_text import Kernel


def deleted(made: Kernel, name: str, *which: int) -> Kernel:
    """The kernel without some operations of a name, by their order; all of them if none are given.

    What passes through them goes on unchanged.
    """
    found = [o for o in made.module.walk() if o.name == name]
    for k in which or range(len(found)):
        if any(True for r in found[k].results for _ in r.uses):
            for result, operand in zip(found[k].results, found[k].operands, strict=True):
                result.replace_all_uses_with(operand)
        found[k].detach()
        found[k].erase()
    return made


WAIT = "nvgpu.mbarrier.try_wait.parity"
_PLANTED = {
    "box load, no wait": ("load 2d f16 128B", WAIT, 0),
    "box store, no barrier": ("store 2d f16 128B", "gpu.barrier", 0),
    "box store, no fence": ("store 2d f16 128B", "nvvm.fence.proxy", 0),
    "plain copies, no wait": ("plain copies", WAIT, 0),
    "plain copies, no barrier": ("plain copies", "gpu.barrier", 1),
    "plain copies, no fence": ("plain copies", "nvvm.fence.proxy", 0),
    "multicast, no wait": ("multicast", WAIT, 0),
    "exchange, no wait": ("exchange", WAIT, 0),
    "exchange, no cluster barrier": ("exchange", "nvvm.cluster.wait", 1),
    "polled, no wait": ("polled", WAIT, 0),
}


def _plant(name: str) -> Kernel:
    base, op_name, which = _PLANTED[name]
    if name == "exchange, no cluster barrier":
        made = deleted(KERNELS[base](), "nvvm.cluster.arrive", which)
        return deleted(made, op_name, which)
    return deleted(KERNELS[base](), op_name, which)


def _unmet() -> Kernel:
    return deleted(deleted(named_barriers(), "nvvm.barrier"), "nvvm.barrier.arrive")


PLANTED = {
    **{name: lambda n=name: _plant(n) for name in _PLANTED},
    "named barriers, none": _unmet,
}
"""Races that let the kernel end."""
