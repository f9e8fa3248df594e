"""Splitting the k loop of a kernel among CTAs: two launches, the same sums in the same order always.

Note [Split-K]
With SPLIT_K = S the grid gets S CTAs per tile on its axis z. CTA z runs slices z * n to (z + 1) * n of
the loop and leaves its sums in scratch, as its threads hold them, 16 bytes a thread side by side. A
second launch, on the kernel's own grid, adds the parts in the order of z to what the accumulator started
from, and runs what follows the loop. Nothing depends on which CTA is done first.

Eligible is a kernel with one loop, at top level, that carries only accumulators of dots in f32 or f64,
with nothing but pure operations and loads in front of it, and a grid of two axes of one extent each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects import gpu, scf
from xdsl.dialects.builtin import StringAttr, f32, f64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from phobos_nb.contract import GridRule, GridTerm, Scratch, TensorParameter
from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.lower import staged
from phobos_nb.lower.accumulating import does_more
from phobos_nb.lower.choices import SPLIT
from phobos_nb.lower.finish import is_pure
from phobos_nb.lower.layout_types import element, is_tile, layout_of
from phobos_nb.lower.matvec import SUMMED


@dataclass(frozen=True)
class Split:
    """A kernel split in `parts`; `sums`: elements that a CTA leaves per part; `name`: of the scratch."""

    name: str
    parts: int
    sums: int
    dtype: str
    grid: GridRule

    @property
    def parameter(self) -> TensorParameter:
        """The scratch as a tensor of both launches."""
        dims = (self.parts, f"{self.name}_y", f"{self.name}_x", self.sums)
        return TensorParameter(self.name, self.dtype, dims, reads=True, writes=True)

    @property
    def scratch(self) -> Scratch:
        """The scratch of the plan."""
        x, y = (axis[0] for axis in self.grid.axes[:2])
        return Scratch(self.name, self.dtype, (GridTerm(self.parts, 1), y, x, GridTerm(self.sums, 1)))

    @property
    def split_grid(self) -> GridRule:
        """The grid of the launch that runs the loop."""
        return GridRule((*self.grid.axes[:2], (GridTerm(self.parts, 1),)))


def split_loop(
    kernel: KernelOp, grid: GridRule, constants: Mapping[str, int], role: str
) -> tuple[Split | None, str]:
    """Rewrite the kernel for its role in place; what was split, or why nothing was ("": not asked)."""
    parts = constants.get(SPLIT, 1)
    if parts <= 1:
        return None, ""
    loops = [op for op in kernel.body.block.ops if isinstance(op, scf.ForOp)]
    reason = _grid_obstacle(kernel, grid) or _obstacle(kernel, loops)
    if reason:
        return None, reason
    threads, results = kernel.threads.value.data, [_left(v) for v in loops[0].results]
    sizes = [math.prod(layout_of(v, threads).slots) * threads for v in results]
    name = _unused(kernel)
    dtype = "f64" if element(results[0]) == f64 else "f32"
    split = Split(name, parts, sum(sizes), dtype, grid)
    if role == "finish":
        _add_parts(kernel, loops[0], sizes, parts)
    else:
        _leave_part(kernel, loops[0], sizes, parts)
    return split, ""


def _grid_obstacle(kernel: KernelOp, grid: GridRule) -> str:
    if grid.problem or [len(axis) for axis in grid.axes] != [1, 1, 0]:
        return "the grid is not of two axes of one extent each"
    blocks = [op for op in kernel.body.walk() if isinstance(op, gpu.BlockIdOp)]
    if any(op.dimension.data is gpu.DimensionEnum.Z for op in blocks):
        return "the kernel reads ctx.block.z"
    return ""


def _obstacle(kernel: KernelOp, loops: list[scf.ForOp]) -> str:
    """Why the loop cannot be split; empty when it can."""
    if not loops and any(isinstance(op, scf.WhileOp) for op in kernel.body.block.ops):
        return "the loop may end at any slice (`while`, `break`, `continue` or `return`)"
    if len(loops) != 1:
        return "the kernel has not exactly one loop at its top level"
    (loop,) = loops
    if not loop.results or any(not is_tile(v) for v in loop.results):
        return "the loop carries something other than tiles"
    if len({element(v) for v in loop.results}) > 1 or element(loop.results[0]) not in (f32, f64):
        return "the accumulators are not all f32, or all f64"
    for op in kernel.body.block.ops:
        if op is loop:
            break
        if not (is_pure(op) or isinstance(op, tile.LoadOp)):
            return f"something happens in front of the loop ({op.name})"
    if SUMMED in loop.attributes:
        return ""
    return does_more(loop, several=True)


def _unused(kernel: KernelOp) -> str:
    """A name for the scratch that no argument has."""
    taken = {a.name_hint for a in kernel.body.block.args}
    return next(n for n in ("parts", *(f"parts{i}" for i in range(9))) if n not in taken)


def _left(result: SSAValue) -> SSAValue:
    """What a CTA leaves of a loop's result: the result, or what partial sums are added up to."""
    loop = result.owner
    assert isinstance(loop, scf.ForOp)
    return next(iter(result.uses)).operation.results[0] if SUMMED in loop.attributes else result


def _leave_part(kernel: KernelOp, loop: scf.ForOp, sizes: list[int], parts: int) -> None:
    """Run one share of the loop from zero, store the sums, and drop what follows."""
    left = [_left(v) for v in loop.results]
    kept = {loop, *(v.owner for v in left)}
    ops = list(kernel.body.block.ops)
    for op in reversed(ops[ops.index(loop) :]):  # users first
        if op not in kept:
            op.detach()
            op.erase()
    b = Builder.before(loop)
    first, last = _share(b, loop, parts)
    loop.operands[0], loop.operands[1] = first, last
    for index, value in enumerate(loop.iter_args):
        loop.operands[3 + index] = b.constant(0, value.type)
    b.point = InsertPoint.at_end(kernel.body.block)
    offset = 0
    for value, size in zip(left, sizes, strict=True):
        b.insert(staged.LeavePartOp(value, offset))
        offset += size


def _share(b: Builder, loop: scf.ForOp, parts: int) -> tuple[SSAValue, SSAValue]:
    """Where the loop starts and ends in the CTA that `ctx.block.z` numbers."""
    z = b.value(gpu.BlockIdOp(gpu.DimensionAttr(gpu.DimensionEnum.Z)))
    span = b.maxsi(b.subi(loop.ub, loop.lb), b.index(0))
    each = b.muli(b.ceildivui(b.ceildivui(span, loop.step), b.index(parts)), loop.step)
    first = b.addi(loop.lb, b.muli(z, each))
    return first, b.minsi(loop.ub, b.addi(first, each))


def _add_parts(kernel: KernelOp, loop: scf.ForOp, sizes: list[int], parts: int) -> None:
    """Put the sums of all parts in the place of the loop, or of what its partial sums add up to."""
    b = Builder.before(loop)
    offset = 0
    gone: list[Operation] = [loop]
    for start, result, size in zip(loop.iter_args, loop.results, sizes, strict=True):
        left = _left(result)
        first = start if left is result else b.constant(0, left.type)
        summed = b.value(staged.AddPartsOp(first, offset, parts))
        summed.name_hint = result.name_hint
        left.replace_all_uses_with(summed)
        if isinstance(left.owner, tile.ReduceOp | tile.AddGroupsOp):
            gone.insert(0, left.owner)
        offset += size
    for op in gone:
        op.detach()
        op.erase()
    kernel.sym_name = StringAttr(f"{kernel.sym_name.data}_finish")
