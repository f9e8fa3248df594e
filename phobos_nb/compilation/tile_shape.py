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
* operands arrive no faster than what a CTA has under way in a memory latency;
* with K_GROUPS = G a thread has G times the sums, as of a larger tile, and the sums of the groups go
  through shared memory once; their slices are G times as deep, so that each has as many k-steps;
* a CTA with a few rows or columns left takes the part of a tile's time that Note [Thin edges] of
  lower/edges.py makes it take, on SMs that the others leave idle as far as there are any;
* where an extent is below the tile, the tile is cut, see Note [Thin extents] of lower/crop.py; then the
  slice is chosen with the tile, and a single row or column goes by Note [Products with a vector].

So a large problem takes the tile that needs the fewest wavefronts (128 x 256 for f32 on 256 threads), a
small or ragged one the tile that divides it into waves with the least waste: 64 x 128 at 1024 cubed on
132 SMs, 128 x 128 at 4097 cubed. One with few tiles and a long k is split. Tiles whose sums exceed the
registers of a thread are left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from phobos_nb.compilation.only_sums import only_adds
from phobos_nb.compilation.thin_shape import LONG_ROW, VectorProduct, bounds, edges
from phobos_nb.diagnostics import PhobosError
from phobos_nb.language.dots import dots
from phobos_nb.language.typed import Call, TypedKernel
from phobos_nb.language.types import TileType
from phobos_nb.lower.choices import CHOICES, EDGE, K_GROUPS, SPLIT, SPREAD
from phobos_nb.lower.edge_rules import edges_of
from phobos_nb.lower.gemm_plan import WIDEST, DotShape, estimate, resident_ctas
from phobos_nb.lower.layouts import WARP
from phobos_nb.lower.loop_form import DEEPEST
from phobos_nb.target import Target

SLICES = "SLICES"

BYTES_PER_CYCLE = 16.0
"""Of one SM, where the target names no card."""

L2_BANDWIDTH = 40.0
"""Bytes per cycle that an SM reads from L2: 10 TB/s on 132 SMs at 1.9 GHz, measured on an H200."""

LATENCY = 700
"""Cycles from a copy's start until it has landed. Fitted to 64 x 64 x 65536 in 32 parts on an H200:
one CTA of 32 x 32 an SM took 344 cycles a k-slice with two under way, where its dots issue for 232."""

FAR = 800
"""Cycles more from DRAM under load. 8 x 4096 x 4096 in 8 parts of 32 x 256 x 8 had 17 KB under way in an
SM and got 10 bytes a cycle of 18."""

START = 2000
"""Cycles until a CTA multiplies; others of its SM hide it. With one CTA an SM, 8 x 4096 x 4096 took 25.9
us where two took 23.5."""

LINE = 128
"""Bytes that DRAM gives at once."""

SHORT_LINES = 1.25
"""What rows of the left operand in shorter pieces cost more: at 4096 x 4 x 4096 slices of 32 took 29 us,
of 16 and 8 from 33 to 37."""

UNDER_WAY = 2
"""K-slices that a CTA has under way, of three stages."""

LAUNCH = 5000
"""Cycles that a launch behind another one costs at least, estimated."""

GROUPS: Mapping[int, float] = {2: 1.1, 4: 1.02, 8: 1.0}
"""Numbers of groups of warps that are tried, and what their multiply-adds cost beyond the estimate:
fitted to 299 configurations of 35 products on an H200."""

GROUPS_AFAR = 1.07
"""The same where the operands are larger than L2: at 3072 cubed 64 x 128 in four groups took 1278 us,
64 x 256 1236, at 1024 cubed 47.7 and 62."""

GROUPS_WAIT = 1.02
"""The same of operands that all wait for: at 2 x 4096 x 4096 four groups took 23.0 us, none 20.8, where
the estimates were alike."""

GROUP_STEPS = (4, 8)
"""K-steps of a group in a slice."""

GROUP_SLICE = 16
"""K-steps of the shortest slice that is shared: at 1024 cubed one of 8 in two groups took 51.9 us, one
of 16 49.7."""

MOST_SPREAD = 64
"""Sums a thread that SPREAD moves at once: 128 spilled at 4097 cubed and lost 6 %."""

ROUND = 2000
"""Cycles in which a CTA waits for its first slice and its old result, shared by the CTAs of an SM."""

SHARED_RATE = 64.0
"""Bytes per cycle in which the sums of groups go to shared memory and come back: half the peak."""

SCATTERED = 2.5
"""What the result costs more where threads store single elements far apart, see SPREAD in
lower/k_groups.py."""

SPLITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Numbers of parts that are tried."""

SPLIT_MUST_GAIN = 1.2
"""At 4097 x 4099 x 4093 on an H200 four parts of 128 x 256 took 1.15 times their estimate, measured
against whole tiles of 128 x 128 and theirs."""

Typed = Callable[[Mapping[str, int]], TypedKernel]


def dot_shapes(kernel: TypedKernel) -> list[DotShape]:
    """The dots of a kernel, in order."""
    return [dot_shape(call) for call in dots(kernel)]


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
    slices: Mapping[str, Sequence[int]],
    extents: Mapping[str, int],
    target: Target,
    sms: int,
) -> dict[str, int]:
    """The pair of values with the least estimated time, and SPLIT_K and K_GROUPS where not 1.

    values: to choose from. slices: depths of slices that groups of warps may have. Where two are equal,
    the one with the longer slice (with groups the shorter: at 1024 cubed one of 16 took 47.7 us, one of
    32 50.9), then the one that reads the least operands.
    """
    splits = SPLITS if SPLIT not in fixed else (fixed[SPLIT],)
    best, least = dict(fixed), (math.inf, 0, 0)
    for found in (*_candidates(fixed, values), *_moved(fixed, values, slices)):
        found = _by_extents(typed, found, extents) | found
        problem = _problem(typed, found, extents, target, sms)
        for parts in splits if problem else ():
            assert problem is not None
            shared = isinstance(problem, _Problem) and problem.groups > 1
            deep = problem.depth if shared else -problem.depth
            cost = problem.cycles(parts), deep, sum(found[name] for name in values)
            if cost < least:
                least, best = cost, found
                if parts > 1:
                    best = {n: v for n, v in found.items() if n not in EDGE} | {SPLIT: parts}
                if isinstance(problem, VectorProduct):
                    best = {SLICES: problem.at_once(parts), **best}
    return best


def _moved(
    fixed: Mapping[str, int], values: Mapping[str, Sequence[int]], slices: Mapping[str, Sequence[int]]
) -> Iterator[dict[str, int]]:
    """The candidates whose sums change hands behind the loop; none where the caller fixed that."""
    if K_GROUPS in fixed or SPREAD in fixed:
        return
    for found in _candidates(fixed, values):
        yield {**found, SPREAD: 1}
    for groups in GROUPS:
        for found in _candidates(fixed, {**values, **slices}):
            yield {**found, K_GROUPS: groups}


def _by_extents(typed: Typed, found: Mapping[str, int], extents: Mapping[str, int]) -> dict[str, int]:
    """Bounds of thin extents and edges under these values; none where they do not go together."""
    try:
        kernel = typed(_author(found))
    except PhobosError:
        return {}
    if kernel.grid.problem or not dot_shapes(kernel):
        return {}
    return {**bounds(kernel.grid, extents), **edges(kernel.grid, extents)}


def _author(constants: Mapping[str, int]) -> dict[str, int]:
    """The author's names alone."""
    return {name: value for name, value in constants.items() if name not in CHOICES}


def estimated_cycles(
    typed: Typed, constants: Mapping[str, int], extents: Mapping[str, int], target: Target, sms: int
) -> float:
    """Cycles of the busiest SM for a kernel with dots by Note [Tile shapes]; inf where it cannot run."""
    full = with_extents(typed, constants, extents)
    problem = _problem(typed, full, extents, target, sms)
    return problem.cycles(constants.get(SPLIT, 1)) if problem else math.inf


def with_extents(
    typed: Typed, constants: Mapping[str, int], extents: Mapping[str, int]
) -> dict[str, int]:
    """The constants, with those that follow from a call's extents where none is set."""
    found = _by_extents(typed, constants, extents)
    if constants.get(SPLIT, 1) > 1:
        found = {n: v for n, v in found.items() if n not in EDGE}
    return found | dict(constants)


def _candidates(
    fixed: Mapping[str, int], values: Mapping[str, Sequence[int]]
) -> Iterator[dict[str, int]]:
    for combination in itertools.product(*values.values()):
        yield {**fixed, **dict(zip(values, combination, strict=True))}


def _problem(
    typed: Typed, constants: Mapping[str, int], extents: Mapping[str, int], target: Target, sms: int
) -> _Problem | VectorProduct | None:
    """A tile on the GPU; None where it cannot be."""
    try:
        kernel = typed(_author(constants))
    except PhobosError:  # these values do not go together
        return None
    thin, groups = kernel.grid.thin(constants), constants.get(K_GROUPS, 1)
    dots, threads = [_cut(d, kernel, thin) for d in dot_shapes(kernel)], kernel.threads
    narrow = _narrow(kernel, dots, extents)
    if constants.get("DIRECT", 1) and all(1 in (d.rows, d.columns) for d in dots):
        return _vector_product(kernel, dots, extents, target, sms, narrow=narrow)
    moves = groups > 1 or constants.get(SPREAD, 0) == 1
    if moves and not (only_adds(kernel) and _can_group(dots, threads, groups)):
        return None
    tile = estimate(dots, threads, target, narrow=narrow, groups=groups)
    if tile.sums > target.registers_per_thread or (moves and tile.sums > MOST_SPREAD * groups):
        return None
    across = kernel.grid.shape(extents)
    unique = _steps(kernel, extents) * sum(
        (across[0] * d.rows * _pieces(d) + across[1] * d.columns) * d.operand_bytes for d in dots
    )
    result = sum(d.rows * d.columns * d.sum_bytes for d in dots)
    staged = sum(DEEPEST * _slice_bytes(d) for d in dots)
    edges = _edges(kernel, constants, extents, target, tile.cycles, narrow=narrow)
    return _Problem(
        tiles=math.prod(across),
        edges=edges,
        moved_bytes=groups * result if moves else 0,
        groups=groups,
        result_cost=SCATTERED if narrow and not moves else 1.0,
        slices=-(-_steps(kernel, extents) // dots[0].depth),
        depth=dots[0].depth,
        step_cycles=tile.cycles,
        result_bytes=result,
        operand_bytes=sum(map(_slice_bytes, dots)),
        unique_bytes=unique,
        near=unique <= _l2_bytes(target),
        resident=min(
            resident_ctas(tile.registers, threads, target),
            max(1, target.shared_per_sm // max(staged, groups * result)),
        ),
        sms=sms,
        bandwidth=_bytes_per_cycle(target, sms),
    )


def _can_group(dots: Sequence[DotShape], threads: int, groups: int) -> bool:
    """Whether groups of warps can share the k-steps, see Note [K groups] of lower/k_groups.py."""
    if threads % (WARP * groups):
        return False
    return all(
        d.depth % groups == 0
        and (groups == 1 or (d.depth >= GROUP_SLICE and d.depth // groups in GROUP_STEPS))
        and d.rows * d.columns >= threads // groups
        for d in dots
    )


def _edges(
    kernel: TypedKernel,
    constants: Mapping[str, int],
    extents: Mapping[str, int],
    target: Target,
    whole: float,
    *,
    narrow: bool,
) -> tuple[tuple[int, float], ...]:
    """CTAs with code of their own and the part of a tile's time that each takes.

    whole: cycles of a k-step of a tile. Slices arrive no faster for being small.
    """
    found: list[tuple[int, float]] = []
    across, groups = kernel.grid.shape(extents), constants.get(K_GROUPS, 1)
    for number, edge in enumerate(edges_of(kernel.grid, constants)):
        dots = [_cut(d, kernel, {edge.symbol: edge.most}) for d in dot_shapes(kernel)]
        cycles = estimate(dots, kernel.threads, target, narrow=narrow, groups=groups).cycles
        least = LATENCY / UNDER_WAY / dots[0].depth
        found.append((across[1 - edge.axis] - number, min(1.0, max(cycles, least) / whole)))
    return tuple(found)


def _pieces(dot: DotShape) -> float:
    """The cost of a byte of the left operand, whose rows come in pieces of a slice."""
    return 1.0 if dot.depth * dot.operand_bytes >= LINE else SHORT_LINES


def _slice_bytes(dot: DotShape) -> int:
    """Bytes of both operands in one slice."""
    return (dot.rows + dot.columns) * dot.depth * dot.operand_bytes


def _cut(dot: DotShape, kernel: TypedKernel, thin: Mapping[str, int]) -> DotShape:
    """The dot with tiles cut to thin extents; its result lies as the kernel's last output does."""
    out = [p.dims for p in kernel.tensor_parameters if p.writes and len(p.dims) > 1]
    if not thin or not out:
        return dot
    rows, columns = (thin.get(str(d)) for d in out[-1][-2:])
    return replace(
        dot, rows=min(dot.rows, rows or dot.rows), columns=min(dot.columns, columns or dot.columns)
    )


@dataclass(frozen=True)
class _Problem:
    """What decides the time of a tile: its count, its loop, its bytes; bandwidth is DRAM's per SM.

    edges: of the tiles, those with code of their own, and the part of a tile's time that each takes.
    moved_bytes: sums that change hands in shared memory. result_cost: of a byte of the result, against
    one of whole rows. unique_bytes: of all operands, each once. near: whether those stay in L2 from call
    to call.
    """

    tiles: int
    edges: tuple[tuple[int, float], ...]
    moved_bytes: int
    result_cost: float
    groups: int
    slices: int
    depth: int
    step_cycles: float
    result_bytes: int
    operand_bytes: int
    unique_bytes: float
    near: bool
    resident: int
    sms: int
    bandwidth: float

    def cycles(self, parts: int) -> float:
        """Cycles of the busiest SM when the loop of a tile is split in so many parts."""
        if parts > self.slices:
            return math.inf
        if self.tiles == 0:  # an extent is 0: every tile does as well
            return 0.0
        ctas = math.ceil(self.tiles * parts / self.sms) if parts > 1 else self._rounds()
        slices = -(-self.slices // parts)
        operands = self._operands(ctas, slices) * (GROUPS_WAIT if self.groups > 1 else 1.0)
        multiply = max(ctas * slices * self.depth * self.step_cycles * self._groups_cost(), operands)
        multiply += ctas * 2 * self.moved_bytes / SHARED_RATE
        written = self.result_bytes if parts > 1 else 2 * self.result_bytes
        memory = ctas * written / self.bandwidth
        memory *= self.result_cost if parts == 1 else 1.0  # parts lie as threads hold them
        memory += 0 if self.near else START / min(ctas, self.resident)
        if self.resident == 1 or ctas <= 1:
            total = multiply + memory
        else:
            total = max(multiply, memory) + min(multiply, memory) / ctas
        total += ROUND * ctas / max(1, min(ctas, self.resident))
        return total if parts == 1 else SPLIT_MUST_GAIN * (total + self._finish(parts))

    def _groups_cost(self) -> float:
        """What multiply-adds take of their estimate."""
        if self.groups == 1:
            return 1.0
        return GROUPS.get(self.groups, 1.0) * (1.0 if self.near else GROUPS_AFAR)

    def _rounds(self) -> float:
        """Tiles' worth of time of the busiest SM: edges fill what whole tiles leave idle."""
        whole = self.tiles - sum(count for count, _ in self.edges)
        rounds = math.ceil(whole / self.sms)
        work = sum(count * part for count, part in self.edges) - (rounds * self.sms - whole)
        if work <= 0:
            return max(rounds, max((part for _, part in self.edges), default=0.0))
        return rounds + max(work / self.sms, min(part for _, part in self.edges))

    def _operands(self, ctas: float, slices: int) -> float:
        """Cycles in which the operands of the busiest SM arrive."""
        all_bytes = self.tiles * self.slices * self.operand_bytes
        afar = 0.0 if self.near else min(1.0, self.unique_bytes / all_bytes)
        latency = LATENCY + FAR * afar
        rate = min(L2_BANDWIDTH, min(ctas, self.resident) * UNDER_WAY * self.operand_bytes / latency)
        stream = 0.0 if self.near else self.unique_bytes / (self.bandwidth * self.sms)
        return max(ctas * slices * self.operand_bytes / rate, stream)

    def _finish(self, parts: int) -> float:
        """Cycles of the second launch: the parts read, mostly from L2, and the result."""
        ctas = -(-self.tiles // self.sms)
        return LAUNCH + ctas * (parts + 2) * self.result_bytes / min(L2_BANDWIDTH, 2 * self.bandwidth)


def _steps(kernel: TypedKernel, extents: Mapping[str, int]) -> int:
    """K-steps of one CTA: the product of the extents along which the grid does not step."""
    stepped = {term.extent for axis in kernel.grid.axes for term in axis}
    return max(1, math.prod(n for symbol, n in extents.items() if symbol not in stepped))


def _vector_product(
    kernel: TypedKernel,
    dots: Sequence[DotShape],
    extents: Mapping[str, int],
    target: Target,
    sms: int,
    *,
    narrow: bool,
) -> VectorProduct:
    """A product with a vector on the GPU."""
    rows = [d.columns * d.operand_bytes for d in dots if d.columns > 1]
    return VectorProduct(
        tiles=math.prod(kernel.grid.shape(extents)),
        slice_bytes=sum(max(d.rows, d.columns) * d.depth * d.operand_bytes for d in dots),
        slices=-(-_steps(kernel, extents) // dots[0].depth),
        depth=dots[0].depth,
        sms=sms,
        bandwidth=_bytes_per_cycle(target, sms),
        launch=LAUNCH,
        narrow=narrow,
        row_bytes=max(rows, default=LONG_ROW),
    )


def _narrow(kernel: TypedKernel, dots: Sequence[DotShape], extents: Mapping[str, int]) -> bool:
    """Whether rows of some tensor, as a fresh allocation lies, do not start at multiples of 16 bytes."""
    rows = [extents.get(str(p.dims[-1]), 0) for p in kernel.tensor_parameters if p.dims]
    return any(n > 1 and n * d.operand_bytes % WIDEST for n in rows for d in dots)


def _l2_bytes(target: Target) -> int:
    """The L2 cache of the card with the most."""
    return max((card.l2_bytes for card in target.cards), default=0)


def _bytes_per_cycle(target: Target, sms: int) -> float:
    """DRAM bandwidth of one SM."""
    card = max(target.cards, key=lambda c: c.dram_gbs, default=None)
    return card.dram_gbs * 1e3 / card.clock_mhz / sms if card else BYTES_PER_CYCLE
