"""Sums and differences with a product become the product's accumulator, wherever the sum stands.

The builder of tile IR sees `acc + dot(a, b)` in one expression; a product that has a name of its own
(`let p = dot(a, b)`) meets its sum only in the values.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.fold import constant_value


def accumulate_dots(kernel: KernelOp) -> None:
    """Rewrite `p + t` and `t - p` in place, where p is a dot onto zeros with no other use.

    They become the dot onto t, for a difference the negated one.
    """
    for op in list(kernel.body.walk()):
        if isinstance(op, arith.AddfOp | arith.AddiOp | arith.SubfOp | arith.SubiOp):
            for value, other in _addends(op):
                if _is_bare_product(value, op):
                    _accumulate(value.owner, other, op)
                    break


def _addends(
    op: arith.AddfOp | arith.AddiOp | arith.SubfOp | arith.SubiOp,
) -> list[tuple[SSAValue, SSAValue]]:
    """What may be the product, with what it is added to or taken from."""
    right = (op.rhs, op.lhs)
    return [right] if _is_difference(op) else [right, (op.lhs, op.rhs)]


def _is_difference(op: Operation) -> bool:
    return isinstance(op, arith.SubfOp | arith.SubiOp)


def _is_bare_product(value: SSAValue, user: Operation) -> bool:
    dot = value.owner
    return (
        isinstance(dot, tile.DotOp)
        and dot.parent is user.parent
        and value.has_one_use()
        and dot.negated is None
        and constant_value(dot.acc) == 0
    )


def _accumulate(dot: Operation | object, other: SSAValue, add: Operation) -> None:
    """The dot moves to the sum's place, where the tile added to is known."""
    assert isinstance(dot, tile.DotOp)
    dot.detach()
    Rewriter.insert_op(dot, InsertPoint.before(add))
    dot.operands[2] = other
    if _is_difference(add):
        dot.negated = UnitAttr()
    add.results[0].replace_all_uses_with(dot.result)
    add.detach()
    add.erase()
