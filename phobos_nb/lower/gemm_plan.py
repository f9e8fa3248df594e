"""How one `dot` is run on the FMA path: thread tile, lane grid, staging and order, as plain data.

The heuristic tries every grid of warps and lanes and takes the cheapest by what limits a SIMT GEMM:
multiply-adds, dead slots included, then wavefronts of shared memory for the fragments of a k-step.
For 128 x 256 on 256 threads that is the measured winner, 16 x 8 elements a thread, A read by lane/8
and B by lane%8.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from phobos_nb.lower import loop_form
from phobos_nb.lower.choices import CHOICES
from phobos_nb.lower.layouts import WARP, Layout, ThreadGrid, thread_tile
from phobos_nb.target import Target

OVERRIDES = tuple(CHOICES)
"""Names of compile options that fix one choice each; the heuristic decides the rest."""

GROUP = 8
"""Rows of tiles that neighbouring CTAs share: 4 to 16 measured alike, 1 costs 2 % of a large GEMM."""

OVERLAP = 4
"""Exponent with which cycles of multiply-adds and of wavefronts add up in `estimate`."""

COPY_CYCLES = 4
"""Cycles of an SM for one warp's cp.async, in `estimate`."""

WORD = 4
"""Bytes of a register."""

WIDEST = 16
"""Bytes of the widest copy of one thread."""

OTHER_REGISTERS = 22
"""Registers of a thread beside those of its dots; 202 in all for the 16 x 8 winner."""

GRID_NAMES = ("THREAD_M", "THREAD_N", "WARPS_M", "LANES_M")
"""Choices that divide a dot's result among threads."""

MOST_CTAS = 4
"""More CTAs on an SM were not tried."""


@dataclass(frozen=True)
class DotShape:
    """The problem of one `dot`: rows x depth times depth x columns, operand and sum sizes in bytes."""

    rows: int
    columns: int
    depth: int
    operand_bytes: int
    sum_bytes: int


def share(problem: DotShape, groups: int) -> DotShape:
    """What one of the groups of warps that share the k-steps computes."""
    return replace(problem, depth=problem.depth // groups)


@dataclass(frozen=True)
class GemmPlan:
    """The choices for one `dot`.

    grid: warps, lanes and fragments of the accumulator. stages: buffers in flight for the operands
    (1: no pipelining). unroll_k: k-steps unrolled in the IR. pads: elements added to the leading
    extent of the k-major A and B buffers, against bank conflicts of transposing stores; None: by count.
    order: how the multiply-adds of one k-step follow each other, one of `loop_form.ORDERS`. group: rows
    of tiles in a group of the raster, 0 for the hardware's order of blocks.
    """

    grid: ThreadGrid
    stages: int = 1
    unroll_k: int = 8
    pads: tuple[int | None, int | None] = (None, None)
    order: str = "snake"
    group: int = GROUP

    def accumulator(self, shape: DotShape, threads: int) -> Layout:
        """The layout of the accumulator under this plan."""
        return thread_tile((shape.rows, shape.columns), threads, self.grid)


def choose(
    shape: DotShape, threads: int, target: Target, constants: Mapping[str, int] | None = None
) -> GemmPlan:
    """The plan for a dot on a target; `constants` may fix the names in `OVERRIDES`.

    A fixed value that no grid offers is ignored, so that one name can serve several dots.
    """
    wanted = constants or {}
    names = [n for n in GRID_NAMES if n in wanted]
    grid = _wanted_grid(shape, threads, wanted, names) if names else best_grid(shape, threads)
    return _fixed(GemmPlan(grid, unroll_k=_unroll(shape)), target, wanted)


def _wanted_grid(
    shape: DotShape, threads: int, wanted: Mapping[str, int], names: Sequence[str]
) -> ThreadGrid:
    grids = list(_grids(shape, threads))
    for name in names:
        grids = [g for g in grids if named(shape, g)[name] == wanted[name]] or grids
    return min(grids, key=lambda g: _cost(shape, g))


def named(shape: DotShape, grid: ThreadGrid) -> dict[str, int]:
    """What a grid is in the words of `GRID_NAMES`."""
    rows, columns = _slots(shape, grid)
    return {"THREAD_M": rows, "THREAD_N": columns, "WARPS_M": grid.warps[0], "LANES_M": grid.lanes[0]}


def _fixed(plan: GemmPlan, target: Target, wanted: Mapping[str, int]) -> GemmPlan:
    pads = (wanted.get("PAD_A", plan.pads[0]), wanted.get("PAD_B", plan.pads[1]))
    stages = wanted.get("STAGES", plan.stages) if target.has("cp.async") else 1
    unroll = wanted.get("UNROLL_K", plan.unroll_k)
    return replace(
        plan,
        pads=pads,
        stages=max(1, stages),
        unroll_k=max(1, unroll),
        order=loop_form.picked(loop_form.ORDERS, "ORDER", wanted),
        group=max(0, wanted.get("GROUP", plan.group)),
    )


def _unroll(shape: DotShape) -> int:
    """The largest divisor of the depth up to 8: whole k-slices as in the winners, small text."""
    return max(d for d in range(1, 9) if shape.depth % d == 0)


def _grids(shape: DotShape, threads: int) -> Iterator[ThreadGrid]:
    warps = threads // WARP
    pairs = [(m, n) for m in range(1, warps + 1) if warps % m == 0 for n in _divisors(warps // m)]
    lanes = [(2**i, WARP >> i) for i in range(6)]
    widest = max(1, 16 // shape.sum_bytes)
    runs = [2**i for i in range(widest.bit_length())]
    for warp, lane, m, n in itertools.product(pairs, lanes, runs, runs):
        yield ThreadGrid(warp, lane, (m, n))


def _divisors(value: int) -> list[int]:
    return [d for d in range(1, value + 1) if value % d == 0]


def _slots(shape: DotShape, grid: ThreadGrid) -> tuple[int, int]:
    """Rows and columns that one thread accumulates, dead ones included."""

    def along(extent: int, axis: int) -> int:
        pitch = grid.warps[axis] * grid.lanes[axis] * grid.fragment[axis]
        return max(1, -(-extent // pitch)) * grid.fragment[axis]

    return along(shape.rows, 0), along(shape.columns, 1)


def _cost(shape: DotShape, grid: ThreadGrid) -> tuple[float, ...]:
    """Smaller is better: multiply-adds a thread, distance from 4 x 8 lanes, wavefronts, loads.

    All warps run, copies too, so dead slots and replication count in full. The lane grid 4 x 8 is
    the one that won on an H200, hence before the wavefronts of a k-step.
    """
    rows, columns = _slots(shape, grid)
    lane_shape = abs(math.log2(grid.lanes[1] / grid.lanes[0]) - 1)
    issue = rows // grid.fragment[0] + columns // grid.fragment[1]
    return (rows * columns, lane_shape, _load_wavefronts(shape, grid), issue)


def _load_wavefronts(shape: DotShape, grid: ThreadGrid) -> int:
    """Wavefronts of shared memory for one warp's fragments of one k-step."""
    rows, columns = _slots(shape, grid)
    size = shape.operand_bytes
    row_loads = rows // grid.fragment[0] * wavefronts(_row_places(grid), grid.fragment[0] * size)
    column_loads = (
        columns // grid.fragment[1] * wavefronts(_column_places(grid), grid.fragment[1] * size)
    )
    return row_loads + column_loads


def registers_per_thread(shape: DotShape, slots: Sequence[int], threads: int) -> int:
    """Registers of a pipelined loop for one dot: sums, two sets of fragments, places of copies of A."""
    return math.prod(slots) + 2 * sum(slots) + -(-shape.rows * shape.depth // threads)


def resident_ctas(needed: int, threads: int, target: Target) -> int:
    """CTAs that share an SM where a thread's dots need so many registers, 1 to `MOST_CTAS`."""
    return max(1, min(MOST_CTAS, target.registers_per_sm // (threads * (needed + OTHER_REGISTERS))))


@dataclass(frozen=True)
class Estimate:
    """What `estimate` tells of one CTA.

    cycles: of a full SM per k-step. sums, registers: of a thread, for accumulators and in all.
    """

    cycles: float
    sums: int
    registers: int


def estimate(
    shapes: Sequence[DotShape], threads: int, target: Target, *, narrow: bool, groups: int = 1
) -> Estimate:
    """The cost of one k-step of all dots; `narrow`: no copy moves more than one element.

    groups: of warps that share the k-steps, see Note [K groups] of k_groups.py.
    Multiply-adds and wavefronts overlap, not wholly; copies come on top, A's by single elements since
    they transpose. Fitted to an H200: f32 tiles of 128 x 256, 256 x 128, 64 x 256, 64 x 128, 128 x 64
    and 64 x 64 on 256 threads reached 52.9, 50.2, 52.5, 45.2, 41.1 and 31.4 TFLOP/s, in ratios 1, 0.95,
    0.99, 0.85, 0.78, 0.59; this gives 1, 0.96, 0.93, 0.81, 0.75, 0.59.
    """
    own = threads // groups
    cycles, sums, registers = 0.0, 0, 0
    for shape in shapes:
        grid = best_grid(share(shape, groups), own)
        slots = _slots(shape, grid)
        sums += math.prod(slots) * shape.sum_bytes // WORD
        registers += registers_per_thread(shape, slots, threads)
        multiply = math.prod(slots) * own / target.fma["f32"]
        waves = _load_wavefronts(shape, grid) * (own // WARP)
        wide = 1 if narrow else max(1, WIDEST // shape.operand_bytes)
        copies = (shape.rows + shape.columns / wide) / WARP
        cycles += (multiply**OVERLAP + waves**OVERLAP) ** (1 / OVERLAP) + COPY_CYCLES * copies
    return Estimate(cycles, sums, registers)


@cache
def best_grid(shape: DotShape, threads: int) -> ThreadGrid:
    """The grid that costs least where the caller fixes nothing."""
    return min(_grids(shape, threads), key=lambda g: _cost(shape, g))


def _row_places(grid: ThreadGrid) -> list[int]:
    return [lane // grid.lanes[1] * grid.fragment[0] for lane in range(WARP)]


def _column_places(grid: ThreadGrid) -> list[int]:
    return [lane % grid.lanes[1] * grid.fragment[1] for lane in range(WARP)]


def wavefronts(places: list[int], width: int) -> int:
    """Shared-memory wavefronts of one warp's load of `width` bytes at element `places`.

    Checked on an H200 with ncu (tests/simulate/data): groups of 32, 16, 8 lanes for up to 4, 8, 16
    bytes; equal words merge; two neighbouring groups are one where every lane equals lane^1, or
    every lane equals lane^2. Neighbouring lanes here are contiguous or equal, so a group is one.
    """
    group = max(8, min(WARP, 128 // max(4, width)))
    if group == WARP:
        return 1
    span = 2 * group
    merged = sum(
        1
        for start in range(0, WARP, span)
        if any(all(places[i] == places[i ^ mask] for i in range(start, start + span)) for mask in (1, 2))
    )
    return WARP // group - merged
