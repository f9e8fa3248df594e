"""The two sides of a CTA tile for a kernel with dots, chosen together for a call's extents.

Note [Tile shapes]
Every pair of values that the promises allow is estimated, the least time wins:

* an SM works through ceil(CTAs / SMs) tiles, several at once or not, which measured alike (an SM
  with one CTA of 256 threads runs at 90 % or more of a full one);
* a k-step of a tile costs `gemm_plan.estimate`; there are as many as the extents multiply to that the
  grid does not step along;
* reading and writing the result is hidden behind the dots of other CTAs of the SM, where there are any.

So a large problem takes the tile that needs the fewest wavefronts (128 x 256 for f32 on 256 threads), a
small or ragged one the tile that divides it into waves with the least waste: 64 x 128 at 1024 cubed on
132 SMs, 128 x 128 at 4097 cubed. Tiles whose sums exceed the registers of a thread are left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from phobos_nb.diagnostics import PhobosError
from phobos_nb.language.typed import Call, TypedKernel
from phobos_nb.language.types import TileType
from phobos_nb.language.walk import expressions, statements
from phobos_nb.lower.gemm_plan import WIDEST, DotShape, estimate, resident_ctas
from phobos_nb.target import Target

DOTS = ("dot", "dot_t")

BYTES_PER_CYCLE = 16.0
"""Of one SM, where the target names no card."""

Typed = Callable[[Mapping[str, int]], TypedKernel]


def dot_shapes(kernel: TypedKernel) -> list[DotShape]:
    """The dots of a kernel, in order."""
    calls = [e for s in statements(kernel.body) for e in expressions(s) if isinstance(e, Call)]
    return [_shape(call) for call in calls if call.builtin in DOTS]


def _shape(call: Call) -> DotShape:
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
    """The pair of values with the least estimated time, the least operands read where two are equal."""

    def cost(found: dict[str, int]) -> tuple[float, int]:
        return _cycles(typed, found, extents, target, sms), sum(found[name] for name in values)

    return min(_candidates(fixed, values), key=cost)


def _candidates(
    fixed: Mapping[str, int], values: Mapping[str, Sequence[int]]
) -> Iterator[dict[str, int]]:
    for combination in itertools.product(*values.values()):
        yield {**fixed, **dict(zip(values, combination, strict=True))}


def _cycles(
    typed: Typed, constants: Mapping[str, int], extents: Mapping[str, int], target: Target, sms: int
) -> float:
    """Cycles of the busiest SM; infinite where a tile cannot be."""
    try:
        kernel = typed(constants)
    except PhobosError:  # these values do not go together
        return math.inf
    dots, threads = dot_shapes(kernel), kernel.threads
    narrow = any(n * d.operand_bytes % WIDEST for n in extents.values() for d in dots)
    tile = estimate(dots, threads, target, narrow=narrow)
    if tile.sums > target.registers_per_thread:
        return math.inf
    tiles = -(-math.prod(kernel.grid.shape(extents)) // sms)
    multiply = tiles * _steps(kernel, extents) * tile.cycles
    results = sum(d.rows * d.columns * d.sum_bytes for d in dots)
    memory = tiles * 2 * results / _bytes_per_cycle(target, sms)
    if resident_ctas(tile.registers, threads, target) == 1:
        return multiply + memory
    return max(multiply, memory) + min(multiply, memory) / tiles


def _steps(kernel: TypedKernel, extents: Mapping[str, int]) -> int:
    """K-steps of one CTA: the product of the extents along which the grid does not step."""
    stepped = {term.extent for axis in kernel.grid.axes for term in axis}
    return max(1, math.prod(n for symbol, n in extents.items() if symbol not in stepped))


def _bytes_per_cycle(target: Target, sms: int) -> float:
    """DRAM bandwidth of one SM."""
    card = max(target.cards, key=lambda c: c.dram_gbs, default=None)
    return card.dram_gbs * 1e3 / card.clock_mhz / sms if card else BYTES_PER_CYCLE
