"""Dots read an operand that is a transposed tile as the tile itself lies."""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue

from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.tile_kernel import KernelOp


def turn_operands(kernel: KernelOp) -> None:
    """Rewrite `dot(transpose(x), b)` and `dot(a, transpose(x))` in place to dots of x, turned."""
    for op in list(kernel.body.walk()):
        if isinstance(op, tile.DotOp):
            left, right = (isinstance(v.owner, tile.TransposeOp) for v in (op.a, op.b))
            if left:
                op.transpose_a = _other(op.transpose_a)
                _take_source(op, 0)
            if right:
                op.transpose_b = _other(op.transpose_b)
                _take_source(op, 1)


def _other(flag: UnitAttr | None) -> UnitAttr | None:
    return UnitAttr() if flag is None else None


def _take_source(dot: tile.DotOp, which: int) -> None:
    """The operand without its transpose, which goes where nobody else reads it."""
    turned: SSAValue = dot.operands[which]
    transpose = turned.owner
    assert isinstance(transpose, tile.TransposeOp)
    dot.operands[which] = transpose.source
    if not turned.uses:
        transpose.detach()
        transpose.erase()
