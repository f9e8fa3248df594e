"""A call under Nsight Compute, its counts per source line beside the simulator's."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.compilation import stages
from phobos_nb.compilation.call import SolvedCall, describe_host, host_values, on_device
from phobos_nb.compilation.compilation import Compilation
from phobos_nb.compilation.configuration import Configuration, resolve
from phobos_nb.contract import ScalarParameter
from phobos_nb.cuda.profile import (
    Measured,
    compile_with_files,
    measure,
    printed_file,
    write_source,
)
from phobos_nb.cuda.stored_call import PITCH, Read, Region, StoredCall, read_device, read_host, regions
from phobos_nb.dtypes import SCALARS
from phobos_nb.source import Source

if TYPE_CHECKING:
    import pandas as pd

    from phobos_nb.compilation.kernel import Kernel
    from phobos_nb.simulate.records import SimulationResult

MEASURED = (
    "instructions",
    "barriers",
    "shared_wavefronts",
    "fewest_shared_wavefronts",
    "sectors",
    "fewest_sectors",
    "requests",
)
"""What the frame has of the GPU's counts, in order."""


@dataclass(frozen=True, repr=False)
class Profile:
    """One call as the GPU ran it and as the simulator did.

    launches: the GPU's counts per launch of the call. simulation: None where it was not asked for.
    report: ncu's own file, for Nsight Compute's window; None where it was not kept. kernel: its name.
    """

    source: Source
    launches: tuple[Measured, ...]
    simulation: SimulationResult | None
    report: Path | None
    kernel: str = "kernel"

    def __repr__(self) -> str:
        return f"<Profile of {self.kernel}: {len(self.launches)} launch(es), see `frame()`>"

    @property
    def counts(self) -> Mapping[str, int]:
        """The GPU's counts over all launches, by name."""
        names = dict.fromkeys(name for launch in self.launches for name in launch.counts)
        return {n: sum(launch.counts.get(n, 0) for launch in self.launches) for n in names}

    def frame(self) -> pd.DataFrame:
        """One row per source line: the GPU's counts, and the simulator's in columns "simulated ...".

        Sums over warps. Wavefronts are None where no counter shows them. Line 0 is code without a line.
        """
        import pandas as pd

        simulated = self._simulated()
        numbers = sorted({*simulated, *(n for launch in self.launches for n in launch.lines)})
        return pd.DataFrame([self._row(n, simulated.get(n, {})) for n in numbers])

    def _row(self, number: int, simulated: Mapping[str, int | None]) -> dict[str, Any]:
        counts = [launch.lines.get(number, {}) for launch in self.launches]
        row: dict[str, Any] = {"line": number, "text": self.source.line_text(number).strip()}
        row.update({name: sum(c.get(name, 0) for c in counts) for name in MEASURED})
        if self.simulation is not None:
            row.update({f"simulated {n}": simulated.get(n, 0) for n in SIMULATED})
        return row

    def _simulated(self) -> dict[int, dict[str, int | None]]:
        if self.simulation is None:
            return {}
        return {
            line.line: {
                "shared_wavefronts": line.wavefronts,
                "fewest_shared_wavefronts": line.fewest_wavefronts,
                "sectors": line.sectors,
                "fewest_sectors": line.fewest_sectors,
            }
            for line in self.simulation.lines
        }


SIMULATED = ("shared_wavefronts", "fewest_shared_wavefronts", "sectors", "fewest_sectors")
"""What the frame has of the simulator's counts; its instructions are not the GPU's."""


@dataclass(frozen=True)
class Snapshot:
    """A call and the memory behind its arrays, wherever they live."""

    call: SolvedCall
    compilation: Compilation
    memory: tuple[Region, ...]

    def stored(self, *code: bytes) -> StoredCall:
        """The call as another process makes it, with code for each launch of its compilation."""
        call, scalars = self.call, self.call.scalars
        tensors = {t.name: call.arrays[t.name] for t in call.typed.tensor_parameters}
        order = [p.name for p in call.typed.parameters if isinstance(p, ScalarParameter)]
        return StoredCall(
            self.compilation.plan,
            code,
            dict(call.extents),
            call.grid,
            call.in_place,
            tensors,
            tuple(scalars[n] for n in order),
            self.memory,
        )

    def arguments(self) -> dict[str, Any]:
        """The call's arguments as NumPy arrays over copies of its memory, and its scalars."""
        buffers = [_buffer(region) for region in self.memory]
        arrays = {n: self._array(a, buffers) for n, a in self.call.arrays.items()}
        return {**arrays, **self.call.scalars}

    def _array(self, array: ArrayDescription, buffers: Sequence[Any]) -> Any:
        dtype = _dtype(array.dtype)
        low, _ = array.span()
        for region, buffer in zip(self.memory, buffers, strict=True):
            if not array.empty and region.low <= low < region.high:
                offset = array.address - region.low
                return np.ndarray(array.shape, dtype, buffer, offset, array.strides)
        return np.empty(array.shape, dtype)


def _buffer(region: Region) -> Any:
    """A copy of a region at the same alignment.

    It lies in an array that begins at a multiple of `PITCH`, which is what the simulator takes an
    allocation to begin at.
    """
    size, start = len(region.content), region.low % PITCH
    room = bytearray(size + 2 * PITCH)
    first = -np.frombuffer(room, np.uint8).__array_interface__["data"][0] % PITCH
    buffer = np.frombuffer(room, np.uint8, offset=first)[start : start + size]
    buffer[:] = np.frombuffer(region.content, np.uint8)
    return buffer


def _dtype(name: str) -> Any:
    if name == "bf16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(SCALARS[name].numpy)


def snapshot(
    kernel: Kernel, values: Mapping[str, Any], grid: Any, configuration: Configuration
) -> Snapshot:
    """Check a call, compile for it, and copy the memory behind its arrays."""
    described, read = _described(kernel, values)
    named = {name: name if name in described else value for name, value in values.items()}

    def describe(value: Any) -> ArrayDescription | None:
        return described.get(value) if isinstance(value, str) else None

    call, compilation = kernel.compiled_call(named, describe, grid, configuration)
    return Snapshot(call, compilation, regions(call.arrays, read))


def _described(kernel: Kernel, values: Mapping[str, Any]) -> tuple[dict[str, ArrayDescription], Read]:
    if not on_device(kernel, values):
        host = {name: describe_host(value) for name, value in host_values(values).items()}
        return {name: array for name, array in host.items() if array is not None}, read_host
    from phobos_nb.cuda.arrays import adopt, library_of
    from phobos_nb.cuda.driver import cupy

    cupy().cuda.runtime.deviceSynchronize()
    scalars = {p.name for p in kernel.parameters if isinstance(p, ScalarParameter)}
    arrays = {name: adopt(value) for name, value in values.items() if name not in scalars}
    return {name: library_of(a).describe(a) for name, a in arrays.items()}, read_device


def profile(
    kernel: Kernel, values: Mapping[str, Any], grid: Any, report: str | Path | None, simulated: bool
) -> Profile:
    """Run a call once under ncu, on copies of its arrays, and in the simulator; see `Kernel.profile`."""
    taken = snapshot(kernel, values, grid, resolve(kernel.options))
    source = taken.compilation.source
    folder = nullcontext(str(Path(report).parent)) if report else tempfile.TemporaryDirectory()
    with folder as name:
        path = Path(report) if report else Path(name) / kernel.name
        path = path.with_suffix(".ncu-rep").resolve()
        codes = [_code(x, path, n) for n, x in enumerate(taken.compilation.launches)]
        launches = measure(taken.stored(*codes), path)
    result = None
    if simulated:
        modules, plan = [x.thread_module for x in taken.compilation.launches], taken.compilation.plan
        result = stages.simulate_plan(modules, plan, taken.arguments(), taken.call.grid)
    return Profile(source, tuple(launches), result, path if report else None, kernel.name)


def _code(compilation: Compilation, report: Path, number: int) -> bytes:
    """The machine code with line tables that name files: the kernel's own, or its text written out."""
    source, own = compilation.source, Path(compilation.source.name)
    if not (own.is_file() and own.read_text("utf-8", errors="replace") == source.text):
        own = report.with_suffix(".ph")
        write_source(source, own)
    target, printed = compilation.configuration.target, printed_file(report, number)
    return compile_with_files(compilation.cuda_source, target, source, own, printed)
