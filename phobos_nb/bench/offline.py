"""What the benchmark can say without a GPU: what each kernel compiles to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.diagnostics import PhobosError

HEAD = (
    f"{'kernel':22} {'target':8} {'threads':>7} {'registers':>9} {'spills':>6} {'shared':>8} "
    f"{'CTAs/SM':>7}"
)


def why_not(error: Exception) -> str:
    """The statement that nothing can be timed here, and what can be done."""
    return (
        f"no GPU to time on: {_reason(error)}\n"
        "Times need an NVIDIA GPU and CuPy. Here is what the kernels compile to; --cpu times their\n"
        "NumPy meaning instead. Recorded figures of GPUs are in results/."
    )


def _reason(error: Exception) -> str:
    """What is missing, with its remedy where one is known; of another library's error the last line."""
    if not isinstance(error, PhobosError):
        return str(error).strip().splitlines()[-1]
    found = error.diagnostics[0]
    return f"{found.message}\n  help: {found.help}" if found.help else found.message


def compiled(kernels: Sequence[tuple[str, Kernel]]) -> Iterator[str]:
    """A line per kernel: resources of its default configuration, or why there are none."""
    for name, kernel in kernels:
        try:
            yield f"{name:22} {_resources(kernel)}"
        except PhobosError as error:
            yield f"{name:22} {error.diagnostics[0].code}: {error.diagnostics[0].message}"


def _resources(kernel: Kernel) -> str:
    compilation = kernel.compile()
    contract, used = compilation.contract, compilation.resources
    spills = used.spill_stores + used.spill_loads
    constants = " ".join(f"{n}={v}" for n, v in contract.constants.items())
    return (
        f"{contract.target:8} {contract.threads:7} {used.registers:9} {spills:6} "
        f"{contract.shared_bytes:8} {compilation.occupancy.ctas:7}  {constants}"
    )
