"""Which arithmetic a contender computes in: what its peak is, and whether it may be compared at all."""

from __future__ import annotations

from collections.abc import Mapping

from phobos_nb.bench.workload import Workload
from phobos_nb.compilation.kernel import Kernel

NAMES = {
    "fp32": "f32",
    "tf32": "TF32",
    "fp16tc": "f16, f16 sums",
    "fp16tcf32acc": "f16, f32 sums",
}
"""Kinds of arithmetic as the table shows them; `workload.PEAKS` has those with a peak of their own."""

EMULATED = "f32 FMA, no tensor cores"
"""What our kernels for tensor cores do as long as their `dot` is made of f32 multiply-adds."""


def of_peer(workload: Workload, contender: str) -> str:
    """The kind of a peer's arithmetic, a key of `NAMES`, or "" where it has none of interest."""
    return workload.units.get(contender, workload.unit)


def of_ours(workload: Workload, kernel: Kernel, constants: Mapping[str, int], chip: str) -> str:
    """Our own arithmetic in words: a kernel for tensor cores is asked whether its code uses them."""
    if workload.unit not in ("fp16tc", "fp16tcf32acc"):
        return NAMES.get(workload.unit, "")
    return NAMES[workload.unit] if uses_tensor_cores(kernel, constants, chip) else EMULATED


def uses_tensor_cores(kernel: Kernel, constants: Mapping[str, int], chip: str) -> bool:
    """Whether the thread MLIR compiled for these constants holds a matrix instruction."""
    known = {n: v for n, v in constants.items() if n in kernel.constant_names}
    launches = kernel.specialize(**known).compile(chip=chip).launches
    modules = [launch.thread_module for launch in launches]
    return any("mma" in op.name for module in modules for op in module.walk())
