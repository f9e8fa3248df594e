"""What is known at compile time about an index: what divides it, its range, which extent it stays under.

Everything follows from constants, block ids, loop bounds and the promises of `@aligned`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.ir import BlockArgument, SSAValue

from phobos_nb.contract import Dim
from phobos_nb.ir.dialects import gpu
from phobos_nb.ir.dialects.arith import IndexCastOp
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.fold import constant_integer


@dataclass(frozen=True)
class Range:
    """An inclusive range; None is unbounded on that side."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class BlockBound:
    """The assumption that `ctx.block` on an axis, times `step`, is below an extent."""

    axis: int
    step: int
    extent: str


def loop_of(value: SSAValue) -> scf.ForOp | None:
    """The loop whose induction variable this is, or None."""
    if isinstance(value, BlockArgument) and value.index == 0:
        parent = value.block.parent_op()
        return parent if isinstance(parent, scf.ForOp) else None
    return None


_AXES = {gpu.DimensionEnum.X: 0, gpu.DimensionEnum.Y: 1, gpu.DimensionEnum.Z: 2}


class IndexFacts:
    """Answers about the index values of one tile kernel."""

    def __init__(self, kernel: KernelOp) -> None:
        self.promises = kernel.promise_values()
        self.symbols: dict[SSAValue, str] = {v: s for s, v in kernel.symbol_arguments.items()}
        self._threads = kernel.threads.value.data

    def multiple(self, value: SSAValue) -> int:
        """The largest known divisor of the value; 0 for the constant 0, which everything divides."""
        constant = constant_integer(value)
        if constant is not None:
            return abs(constant)
        if value in self.symbols:
            return self.promises.get(self.symbols[value], 1)
        loop = loop_of(value)
        if loop is not None:
            return math.gcd(self.multiple(loop.lb), self.multiple(loop.step))
        op = value.owner
        if isinstance(op, arith.MuliOp):
            return self.multiple(op.lhs) * self.multiple(op.rhs)
        if isinstance(op, arith.AddiOp | arith.SubiOp):
            return math.gcd(self.multiple(op.lhs), self.multiple(op.rhs))
        if isinstance(op, IndexCastOp):
            return self.multiple(op.input)
        return 1

    def range(self, value: SSAValue) -> Range:
        """The known range of the value."""
        constant = constant_integer(value)
        if constant is not None:
            return Range(constant, constant)
        if value in self.symbols:
            return Range(0)
        loop = loop_of(value)
        if loop is not None:
            return self._loop_range(loop)
        op = value.owner
        if isinstance(op, gpu.ThreadIdOp):
            return Range(0, self._threads - 1)
        if isinstance(op, gpu.BlockIdOp | gpu.GridDimOp):
            return Range(0)
        if isinstance(op, arith.AddiOp):
            return _add(self.range(op.lhs), self.range(op.rhs))
        if isinstance(op, arith.MuliOp):
            return _multiply(self.range(op.lhs), self.range(op.rhs))
        if isinstance(op, IndexCastOp):
            return self.range(op.input)
        if isinstance(op, arith.MaxSIOp | arith.MinSIOp):
            return _extreme(op, self.range(op.lhs), self.range(op.rhs))
        if isinstance(op, arith.CeilDivUIOp | arith.DivUIOp):
            return Range(0) if self.not_negative(op.lhs) else Range()
        return Range()

    def not_negative(self, value: SSAValue) -> bool:
        """Whether the value is known to be at least 0."""
        low = self.range(value).low
        return low is not None and low >= 0

    def inside(self, value: SSAValue, length: int, extent: Dim) -> list[BlockBound] | None:
        """Whether `length` positions from the value lie in [0, extent); None if that is not known.

        The list names what the proof assumes of the grid. For a run-time extent: value < extent, and
        both are multiples of some g >= length, so value + length <= value + g <= extent.
        """
        if not self.not_negative(value):
            return None
        if isinstance(extent, int):
            return self._inside_constant(value, length, extent)
        promised = self.promises.get(extent)
        if promised is None or math.gcd(promised, self.multiple(value)) < length:
            return None
        return self._below(value, extent)

    def _inside_constant(self, value: SSAValue, length: int, extent: int) -> list[BlockBound] | None:
        high = self.range(value).high
        return [] if high is not None and high + length <= extent else None

    def _below(self, value: SSAValue, symbol: str) -> list[BlockBound] | None:
        loop = loop_of(value)
        if loop is not None:
            steps_up = self.range(loop.step).low
            return [] if self.symbols.get(loop.ub) == symbol and steps_up and steps_up > 0 else None
        if constant_integer(value) == 0:
            return None
        block = block_times(value)
        return None if block is None else [BlockBound(*block, symbol)]

    def _loop_range(self, loop: scf.ForOp) -> Range:
        start, stop, step = self.range(loop.lb), self.range(loop.ub), self.range(loop.step)
        if step.low is None or step.low <= 0:
            return Range()
        high = None if stop.high is None else stop.high - 1
        if high is not None and start.low == start.high and start.low is not None:
            unit = constant_integer(loop.step) or 1
            high = start.low + max(0, (high - start.low) // unit * unit)
        return Range(start.low, high)


def block_times(value: SSAValue) -> tuple[int, int] | None:
    """The axis and step of `block_id * step`, if the value is that."""
    op = value.owner
    if isinstance(op, IndexCastOp):
        return block_times(op.input)
    if isinstance(op, gpu.BlockIdOp):
        return _AXES[op.dimension.data], 1
    if isinstance(op, arith.MuliOp):
        for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            step, block = constant_integer(other), block_times(one)
            if step is not None and step > 0 and block is not None:
                return block[0], block[1] * step
    return None


def _add(a: Range, b: Range) -> Range:
    low = None if a.low is None or b.low is None else a.low + b.low
    high = None if a.high is None or b.high is None else a.high + b.high
    return Range(low, high)


def _extreme(op: arith.MaxSIOp | arith.MinSIOp, a: Range, b: Range) -> Range:
    """The range of the larger or of the smaller."""
    if isinstance(op, arith.MaxSIOp):
        low = max((n for n in (a.low, b.low) if n is not None), default=None)
        return Range(low, None if a.high is None or b.high is None else max(a.high, b.high))
    high = min((n for n in (a.high, b.high) if n is not None), default=None)
    return Range(None if a.low is None or b.low is None else min(a.low, b.low), high)


def _multiply(a: Range, b: Range) -> Range:
    if a.low is None or b.low is None or a.low < 0 or b.low < 0:
        return Range()
    high = None if a.high is None or b.high is None else a.high * b.high
    return Range(a.low * b.low, high)
