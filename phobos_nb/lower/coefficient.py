"""How an index of a loop's body moves with the loop."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, SSAValue

from phobos_nb.ir.dialects.arith import IndexCastOp
from phobos_nb.ir.fold import constant_integer


def coefficient(value: SSAValue, iv: SSAValue, body: Block) -> int | None:
    """How much an index grows when the loop variable grows by one; None where it is not linear."""
    if value is iv:
        return 1
    op = value.owner
    if not isinstance(op, Operation) or op.parent is not body:
        return 0
    if isinstance(op, IndexCastOp):
        return coefficient(op.input, iv, body)
    if isinstance(op, arith.AddiOp | arith.SubiOp):
        left, right = (coefficient(v, iv, body) for v in op.operands)
        if left is None or right is None:
            return None
        return left + right if isinstance(op, arith.AddiOp) else left - right
    if isinstance(op, arith.MuliOp):
        return _product(op, iv, body)
    return None


def _product(op: arith.MuliOp, iv: SSAValue, body: Block) -> int | None:
    for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        known, inner = constant_integer(other), coefficient(one, iv, body)
        if known is not None and inner is not None:
            return inner * known
    return None
