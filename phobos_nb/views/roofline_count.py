"""Work and traffic of a call: counted by the simulator on some CTAs, extended to all of them.

Note [Sampling]
CTAs that are last along an axis whose extent is no multiple of the step do less than the others, so
the grid is divided there. Of each part at most `SAMPLES` CTAs are simulated, evenly spaced: their mean
is exact where all do the same work, and where work grows evenly with the block's number. A grid of at
most `ALL` CTAs is simulated whole.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phobos_nb.compilation import stages
from phobos_nb.compilation.call import SolvedCall
from phobos_nb.compilation.compilation import Compilation
from phobos_nb.contract import GridTerm, LaunchContract
from phobos_nb.counts import counted
from phobos_nb.dtypes import SCALARS
from phobos_nb.language.typed import TypedKernel
from phobos_nb.simulate.records import SimulationResult
from phobos_nb.target import get

SAMPLES = 3
"""CTAs of each part of the grid, see Note [Sampling]."""

ALL = 8
"""Grids of up to so many CTAs are simulated whole."""

MOST_BYTES = 1 << 30
"""Larger arrays are not copied into simulated memory."""

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Counted:
    """Of one call, all CTAs. Bytes are of global memory.

    flops: by kind, see `simulate/arithmetic.py`; slots outside a tensor count, the GPU computes them.
    least_read, least_written: every element of every tensor that is read, or written, once.
    read, written: 32-byte sectors that warps ask for, whatever the L1 and L2 caches then answer.
    wavefronts: of shared memory, the fewest possible where the hardware shows no number. method: how it
    was counted. problems: faults that the simulation met.
    """

    flops: Mapping[str, float]
    least_read: int
    least_written: int
    read: float
    written: float
    wavefronts: float = 0.0
    ctas: int = 0
    method: str = ""
    problems: tuple[str, ...] = ()

    @property
    def total_flops(self) -> float:
        """Floating-point operations of all kinds."""
        return sum(self.flops.values())

    @property
    def least(self) -> int:
        """The fewest bytes that DRAM must move."""
        return self.least_read + self.least_written

    @property
    def requested(self) -> float:
        """Bytes that warps ask the memory system for."""
        return self.read + self.written


@dataclass
class _Sums:
    """Running sums over the parts of the grid, scaled."""

    flops: dict[str, float] = field(default_factory=dict[str, float])
    read: float = 0.0
    written: float = 0.0
    wavefronts: float = 0.0
    simulated: int = 0
    problems: list[str] = field(default_factory=list[str])

    def add(self, result: SimulationResult, scale: float, sector: int) -> None:
        """Add what some CTAs did, as often as there are CTAs like them."""
        for kind, count in result.flops.items():
            self.flops[kind] = self.flops.get(kind, 0.0) + count * scale
        for access in result.global_accesses:
            moved = access.sectors * sector * scale
            self.read += moved if access.kind not in ("store", "bulk_store") else 0.0
            self.written += moved if access.kind in ("store", "atomic", "bulk_store") else 0.0
        for access in result.accesses:
            if access.space == "shared":
                unknown = access.wavefronts is None
                waves = access.fewest_wavefronts if unknown else access.wavefronts
                self.wavefronts += (waves or 0) * scale
        self.simulated += result.ctas
        self.problems += [f.message for f in result.faults]


def count(compilation: Compilation, call: SolvedCall, values: Mapping[str, Any]) -> Counted:
    """Simulate some CTAs of every launch of a call and extend the counts to all.

    values: NumPy arrays and scalars by parameter name; they stay as they are. Raises `ValueError` for
    arrays of more than `MOST_BYTES`.
    """
    tensors = [values[p.name] for p in call.typed.tensor_parameters]
    if sum(t.nbytes for t in tensors) > MOST_BYTES:
        raise ValueError(f"the arrays are larger than the {MOST_BYTES:,} bytes that are simulated")
    plan, sums, ctas = compilation.plan, _Sums(), 0
    known = {**values, **call.scalars, **_scratch(compilation, call)}
    grids = plan.grids(call.grid, call.extents)
    for launch, compiled, grid in zip(plan.launches, compilation.launches, grids, strict=True):
        ctas += math.prod(grid)
        _count_launch(compiled, launch.contract, known, grid, call, sums)
    least = least_bytes(call.typed, call.extents)
    method = _method(ctas, sums.simulated)
    return Counted(
        sums.flops, *least, sums.read, sums.written, sums.wavefronts, ctas, method,
        tuple(dict.fromkeys(sums.problems)),
    )  # fmt: skip


def _count_launch(
    compiled: Compilation,
    contract: LaunchContract,
    values: Mapping[str, Any],
    grid: Shape,
    call: SolvedCall,
    sums: _Sums,
) -> None:
    sector = get(contract.target).sector_bytes
    for numbers, size in parts(grid, contract.grid.axes, call.extents):
        result = stages.simulate(
            compiled.thread_module, contract, values, grid, ctas=numbers, races=False
        )
        sums.add(result, size / len(numbers), sector)


def parts(
    grid: Shape, axes: Sequence[Sequence[GridTerm]], extents: Mapping[str, int]
) -> Iterator[tuple[list[int], int]]:
    """Linear numbers of CTAs to simulate, and how many CTAs they stand for, see Note [Sampling]."""
    total = math.prod(grid)
    if total <= ALL:
        if total:
            yield list(range(total)), total
        return
    ranges = [_divided(n, terms, extents) for n, terms in zip(grid, axes, strict=True)]
    for part in itertools.product(*ranges):
        size = math.prod(len(r) for r in part)
        wanted = min(SAMPLES, size)
        places = [int((i + 0.5) * size / wanted) for i in range(wanted)]
        yield [_linear(place, part, grid) for place in places], size


def _divided(blocks: int, terms: Sequence[GridTerm], extents: Mapping[str, int]) -> list[range]:
    """The whole axis, or all but the last block and the last where that one is partial."""
    known = [(t.extent if isinstance(t.extent, int) else extents[t.extent], t.step) for t in terms]
    if blocks > 1 and any(extent % step for extent, step in known):
        return [range(blocks - 1), range(blocks - 1, blocks)]
    return [range(blocks)]


def _linear(place: int, part: Sequence[range], grid: Shape) -> int:
    """The number in the grid (x fastest) of a CTA by its number in a part."""
    found, stride = 0, 1
    for span, blocks in zip(part, grid, strict=True):
        found += span[place % len(span)] * stride
        place //= len(span)
        stride *= blocks
    return found


def _method(ctas: int, simulated: int) -> str:
    if simulated == ctas:
        return f"all {counted(ctas, 'CTA')} simulated" if ctas > 1 else "its only CTA simulated"
    return f"{simulated:,} of {counted(ctas, 'CTA')} simulated, evenly spaced, and scaled"


def least_bytes(typed: TypedKernel, extents: Mapping[str, int]) -> tuple[int, int]:
    """Bytes read and written if every element of a tensor crosses the bus once for each."""
    read = written = 0
    for tensor in typed.tensor_parameters:
        sizes = [d if isinstance(d, int) else extents[d] for d in tensor.dims]
        whole = math.prod(sizes) * SCALARS[tensor.dtype].itemsize
        read += whole if tensor.reads else 0
        written += whole if tensor.writes else 0
    return read, written


def _scratch(compilation: Compilation, call: SolvedCall) -> dict[str, Any]:
    """What lies between the launches of a split kernel; the values do not change the counts."""
    types = {"f32": np.float32, "f64": np.float64}
    plan = compilation.plan
    return {s.name: np.zeros(s.shape(call.extents), types[s.dtype]) for s in plan.scratch}
