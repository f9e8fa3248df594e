"""The two sides of a CTA tile for a kernel with dots, chosen together for a call's extents.

Note [Tile shapes]
Every pair of values that the promises allow is estimated, the least time wins:

* an SM works through ceil(CTAs / SMs) tiles, several at once or not, which measured alike (an SM
  with one CTA of 256 threads runs at 90 % or more of a full one);
* a k-step of a tile costs `gemm_plan.estimate`; there are as many as the extents multiply to that the
  grid does not step along;
* reading and writing the result is hidden behind the dots of other CTAs of the SM, where there are any;
* with SPLIT_K = S the tiles are S times as many and their loops 1 / S as long; their sums are written,
  read back and added by a second launch. Only a gain of a fifth counts, the rest is error;
* operands arrive no faster than what a CTA has under way in a memory latency.

So a large problem takes the tile that needs the fewest wavefronts (128 x 256 for f32 on 256 threads), a
small or ragged one the tile that divides it into waves with the least waste: 64 x 128 at 1024 cubed on
132 SMs, 128 x 128 at 4097 cubed. One with few tiles and a long k is split. Tiles whose sums exceed the
registers of a thread are left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from phobos_nb.diagnostics import PhobosError
from phobos_nb.language.typed import Call, TypedKernel
from phobos_nb.language.types import TileType
from phobos_nb.language.walk import expressions, statements
from phobos_nb.lower.choices import SPLIT
from phobos_nb.lower.gemm_plan import WIDEST, DotShape, estimate, resident_ctas
from phobos_nb.target import Target

DOTS = ("dot", "dot_t")

BYTES_PER_CYCLE = 16.0
"""Of one SM, where the target names no card."""

L2_BANDWIDTH = 40.0
"""Bytes per cycle that an SM reads from L2: 10 TB/s on 132 SMs at 1.9 GHz, measured on an H200."""

LATENCY = 700
"""Cycles from a copy's start until it has landed. Fitted to 64 x 64 x 65536 in 32 parts on an H200:
one CTA of 32 x 32 an SM took 344 cycles a k-slice with two under way, where its dots issue for 232."""

UNDER_WAY = 2
"""K-slices that a CTA has under way, of three stages."""

LAUNCH = 5000
"""Cycles that a launch behind another one costs at least, estimated."""

SPLITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Numbers of parts that are tried."""

SPLIT_MUST_GAIN = 1.2
"""At 4097 x 4099 x 4093 on an H200 four parts of 128 x 256 took 1.15 times their estimate, measured
against whole tiles of 128 x 128 and theirs."""

Typed = Callable[[Mapping[str, int]], TypedKernel]


def dot_shapes(kernel: TypedKernel) -> list[DotShape]:
    """The dots of a kernel, in order."""
    calls = [e for s in statements(kernel.body) for e in expressions(s) if isinstance(e, Call)]
    return [dot_shape(call) for call in calls if call.builtin in DOTS]


def dot_shape(call: Call) -> DotShape:
    """The shape of one call of `dot` or `dot_t`."""
    left = call.arguments[0].type
    assert isinstance(left, TileType)
    assert isinstance(call.type, TileType)
    rows, columns = call.type.shape
    return DotShape(rows, columns, left.shape[1], left.dtype.itemsize, call.type.dtype.itemsize)


def choose_tile(
    typed: Typed,
    fixed: Mapping[str, int],
    values: Mapping[str, Sequence[int]],
    extents: Mapping[str, int],
    target: Target,
    sms: int,
) -> dict[str, int]:
    """The pair of values with the least estimated time, and SPLIT_K where it is not 1.

    Where two are equal, the one that reads the least operands.
    """
    splits = SPLITS if SPLIT not in fixed else (fixed[SPLIT],)

    def cost(found: dict[str, int]) -> tuple[float, int]:
        problem = _problem(typed, found, extents, target, sms)
        parts = found.get(SPLIT, 1)
        return (problem.cycles(parts) if problem else math.inf), sum(found[name] for name in values)

    candidates = [
        {**found, **({SPLIT: parts} if parts > 1 else {})}
        for found in _candidates(fixed, values)
        for parts in splits
    ]
    return min(candidates, key=cost)


def estimated_cycles(
    typed: Typed, constants: Mapping[str, int], extents: Mapping[str, int], target: Target, sms: int
) -> float:
    """Cycles of the busiest SM for a kernel with dots by Note [Tile shapes]; inf where it cannot run."""
    problem = _problem(typed, constants, extents, target, sms)
    return problem.cycles(constants.get(SPLIT, 1)) if problem else math.inf


def _candidates(
    fixed: Mapping[str, int], values: Mapping[str, Sequence[int]]
) -> Iterator[dict[str, int]]:
    for combination in itertools.product(*values.values()):
        yield {**fixed, **dict(zip(values, combination, strict=True))}


def _problem(
    typed: Typed, constants: Mapping[str, int], extents: Mapping[str, int], target: Target, sms: int
) -> _Problem | None:
    """A tile on the GPU; None where it cannot be."""
    try:
        kernel = typed({name: value for name, value in constants.items() if name != SPLIT})
    except PhobosError:  # these values do not go together
        return None
    dots, threads = dot_shapes(kernel), kernel.threads
    narrow = any(n * d.operand_bytes % WIDEST for n in extents.values() for d in dots)
    tile = estimate(dots, threads, target, narrow=narrow)
    if tile.sums > target.registers_per_thread:
        return None
    return _Problem(
        tiles=math.prod(kernel.grid.shape(extents)),
        slices=-(-_steps(kernel, extents) // dots[0].depth),
        depth=dots[0].depth,
        step_cycles=tile.cycles,
        result_bytes=sum(d.rows * d.columns * d.sum_bytes for d in dots),
        operand_bytes=sum((d.rows + d.columns) * d.depth * d.operand_bytes for d in dots),
        resident=resident_ctas(tile.registers, threads, target),
        sms=sms,
        bandwidth=_bytes_per_cycle(target, sms),
    )


@dataclass(frozen=True)
class _Problem:
    """What decides the time of a tile: its count, its loop, its bytes; bandwidth is DRAM's per SM."""

    tiles: int
    slices: int
    depth: int
    step_cycles: float
    result_bytes: int
    operand_bytes: int
    resident: int
    sms: int
    bandwidth: float

    def cycles(self, parts: int) -> float:
        """Cycles of the busiest SM when the loop of a tile is split in so many parts."""
        if parts > self.slices:
            return math.inf
        if self.tiles == 0:  # an extent is 0: every tile does as well
            return 0.0
        ctas = -(-self.tiles * parts // self.sms)
        slices = -(-self.slices // parts)
        rate = min(L2_BANDWIDTH, min(ctas, self.resident) * UNDER_WAY * self.operand_bytes / LATENCY)
        operands = ctas * slices * self.operand_bytes / rate
        multiply = max(ctas * slices * self.depth * self.step_cycles, operands)
        written = self.result_bytes if parts > 1 else 2 * self.result_bytes
        memory = ctas * written / self.bandwidth
        if self.resident == 1 or ctas == 1:
            total = multiply + memory
        else:
            total = max(multiply, memory) + min(multiply, memory) / ctas
        return total if parts == 1 else SPLIT_MUST_GAIN * (total + self._finish(parts))

    def _finish(self, parts: int) -> float:
        """Cycles of the second launch: the parts read, mostly from L2, and the result."""
        ctas = -(-self.tiles // self.sms)
        return LAUNCH + ctas * (parts + 2) * self.result_bytes / min(L2_BANDWIDTH, 2 * self.bandwidth)


def _steps(kernel: TypedKernel, extents: Mapping[str, int]) -> int:
    """K-steps of one CTA: the product of the extents along which the grid does not step."""
    stepped = {term.extent for axis in kernel.grid.axes for term in axis}
    return max(1, math.prod(n for symbol, n in extents.items() if symbol not in stepped))


def _bytes_per_cycle(target: Target, sms: int) -> float:
    """DRAM bandwidth of one SM."""
    card = max(target.cards, key=lambda c: c.dram_gbs, default=None)
    return card.dram_gbs * 1e3 / card.clock_mhz / sms if card else BYTES_PER_CYCLE
