"""Code of their own for the CTAs at the end of the grid that have only a few rows or columns.

Note [Thin edges]
Where an extent is a little more than a multiple of its tile, the last row of CTAs has a few rows to
compute and takes as long as any other; at 4097 cubed such CTAs make nine waves of eight. EDGE_X = n and
EDGE_Y = n give a kernel two or three bodies: a CTA with at most n positions left on an axis runs one
whose tiles are cut to n, see Note [Thin extents] of crop.py. All threads of a CTA take the same one.
"""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects import gpu, tile
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.lower.edge_rules import Edge
from phobos_nb.lower.finish import is_pure

VERSION = "phobos.version"
"""Attribute of the `scf.if` between two bodies of a kernel: no CTA runs both."""

_AXES = (gpu.DimensionEnum.X, gpu.DimensionEnum.Y)


def version_edges(kernel: KernelOp, edges: list[Edge]) -> list[tuple[Edge, Block]]:
    """Give the kernel a body for each edge, in place; their blocks, none where it cannot be done."""
    ops = [op for op in kernel.body.block.ops if not isinstance(op, arith.ConstantOp)]
    if not edges or not all(_movable(op) for op in ops):
        return []
    for op in ops:
        op.detach()
    b = Builder(kernel.body.block, InsertPoint.at_end(kernel.body.block))
    b.location = kernel.location
    return _bodies(kernel, b, edges, ops)


def _movable(op: Operation) -> bool:
    return is_pure(op) or isinstance(op, tile.LoadOp | tile.StoreOp | scf.ForOp)


def _bodies(
    kernel: KernelOp, b: Builder, edges: list[Edge], ops: list[Operation]
) -> list[tuple[Edge, Block]]:
    """The bodies of these edges, else the kernel's own ops, at the builder's point."""
    if not edges:
        for op in ops:
            b.insert(op)
        return []
    first, *others = edges
    branch = b.if_(_few(kernel, b, first), otherwise=True)
    branch.attributes[VERSION] = UnitAttr()
    thin, rest = branch.true_region.block, branch.false_region.block
    with b.inside(thin):
        values = dict[SSAValue, SSAValue]()
        for op in ops:
            b.insert(op.clone(values))
        b.yield_()
    with b.inside(rest):
        found = _bodies(kernel, b, others, ops)
        b.yield_()
    return [(first, thin), *found]


def _few(kernel: KernelOp, b: Builder, edge: Edge) -> SSAValue:
    """Whether the CTA has at most so many positions left."""
    block = b.value(gpu.BlockIdOp(gpu.DimensionAttr(_AXES[edge.axis])))
    left = b.subi(kernel.symbol_arguments[edge.symbol], b.muli(block, b.index(edge.step)))
    return b.cmpi("sle", left, b.index(edge.most))
