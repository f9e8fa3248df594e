"""A stored kernel on the GPU with its arrays, which may have holes between their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.contract import LaunchContract
from phobos_nb.cuda.launch import Parameters, starter
from phobos_nb.cuda.loading import load_kernel


@dataclass(frozen=True)
class Layout:
    """Where an array lies in its bytes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Launcher:
    """One loaded kernel with the bytes of its tensors on the GPU."""

    def __init__(
        self,
        contract: LaunchContract,
        grid: tuple[int, int, int],
        layouts: Mapping[str, Layout],
        arrays: Mapping[str, Any],
        image: bytes,
    ) -> None:
        """`arrays` are the GPU's, flat."""
        self.contract, self.arrays = contract, dict(arrays)
        described = {
            n: ArrayDescription("", x.shape, x.strides, int(self.arrays[n].data.ptr), x.itemsize)
            for n, x in layouts.items()
        }
        parameters = Parameters(contract)
        parameters.write_layout({}, described)
        parameters.write_addresses(*(int(self.arrays[t.name].data.ptr) for t in contract.tensors))
        self.start = starter(load_kernel(image, contract), contract, grid, parameters)

    def run(self) -> None:
        """One launch, to its end."""
        import cupy

        self.start(0)
        cupy.cuda.runtime.deviceSynchronize()
