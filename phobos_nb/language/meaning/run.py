"""Runs a typed kernel on NumPy arrays, CTA after CTA."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from phobos_nb.dtypes import ALL, DType
from phobos_nb.language.meaning.conversion import numpy_dtype
from phobos_nb.language.meaning.machine import Launch, Machine, Printed
from phobos_nb.language.meaning.memory import Memory, shared_memory
from phobos_nb.language.meaning.statements import execute
from phobos_nb.language.registry import Builtins
from phobos_nb.language.typed import TypedKernel

Block = tuple[int, int, int]


@dataclass(frozen=True)
class MeaningResult:
    """What a run gives besides the arrays it wrote: its grid and the lines it printed.

    printed: ordered by CTA (row-major), thread and sequence.
    """

    grid: Block
    printed: tuple[Printed, ...]


def run(
    kernel: TypedKernel,
    arguments: Mapping[str, Any],
    grid: Block | None = None,
    ctas: Iterable[Block] | None = None,
    *,
    builtins: Builtins,
    rounding: bool = False,
    outside: float | None = None,
    deadline: float | None = None,
) -> MeaningResult:
    """Run the kernel on `arguments` (by parameter name), writing into the arrays.

    Arrays have the declared dtype (bf16: ml_dtypes.bfloat16) and any strides. `ctas` picks CTAs and
    their order, all in row-major order (x fastest) if left out. With `rounding`, `dot` rounds f32
    operands to f16 as the tensor cores do. With `outside`, float tiles read this number outside their
    tensors, whatever the program pads with: an experiment on wrong results. deadline: the time, by
    `time.perf_counter`, past which a loop raises `TimeoutError`.

    Raises
    ------
    PhobosError
        PH801 an assertion, PH802 division by zero, PH803 a shift past the width, PH804 a range with
        step 0, PH805 outside a shared array: the program's own faults, at their line.
    ValueError
        For arrays that do not fit the signature, or a grid that cannot be inferred.
    """
    launch = _launch(kernel, arguments, grid, builtins, rounding, outside, deadline)
    printed: list[Printed] = []
    with np.errstate(all="ignore"):
        for block in blocks(launch.grid) if ctas is None else ctas:
            printed += _run_block(kernel, launch, block)
    printed.sort(key=lambda p: (p.block[::-1], p.thread, p.sequence))
    return MeaningResult(launch.grid, tuple(printed))


def blocks(grid: Block) -> list[Block]:
    """All CTAs of a grid in row-major order, x fastest."""
    x, y, z = grid
    return [(i, j, k) for k, j, i in itertools.product(range(z), range(y), range(x))]


def _run_block(kernel: TypedKernel, launch: Launch, block: Block) -> list[Printed]:
    shared = {s: shared_memory(s.name, s.type.dtype, s.type.shape) for s in kernel.shared}
    machine = Machine(launch, block, shared)
    execute(machine, kernel.body)
    return machine.printed


def _launch(
    kernel: TypedKernel,
    arguments: Mapping[str, Any],
    grid: Block | None,
    builtins: Builtins,
    rounding: bool,
    outside: float | None,
    deadline: float | None,
) -> Launch:
    tensors = {t: _memory(t.name, t.type.dtype, arguments[t.name]) for t in kernel.tensors}
    extents: dict[str, int] = {}
    for tensor, memory in tensors.items():
        for axis, (dim, size) in enumerate(zip(tensor.type.dims, memory.array.shape, strict=True)):
            if size != (extents.setdefault(dim, size) if isinstance(dim, str) else dim):
                raise ValueError(f"{tensor.name}: axis {axis} has extent {size}, which is not {dim}")
    if grid is None and kernel.grid.problem:
        raise ValueError(kernel.grid.problem)
    return Launch(
        builtins=builtins,
        source=kernel.source,
        threads=kernel.threads,
        grid=kernel.grid.shape(extents) if grid is None else grid,
        tensors=tensors,
        extents=extents,
        scalars={p.name: numpy_dtype(ALL[p.dtype]).type(arguments[p.name]) for p in kernel.scalars},
        rounding=rounding,
        outside=outside,
        deadline=deadline,
    )


def _memory(name: str, dtype: DType, array: Any) -> Memory:
    if array.dtype != numpy_dtype(dtype):
        raise ValueError(f"{name}: wanted {dtype}, got {array.dtype}")
    return Memory(name, dtype, array)
