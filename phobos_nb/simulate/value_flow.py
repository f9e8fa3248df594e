"""How values go through loops and branches: which becomes which."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue


def origins(value: SSAValue) -> list[SSAValue]:
    """Where the value of a loop's or branch's result or argument comes from; of others nothing."""
    return [source for source, target in flows(_home(value)) if target is value]


def _home(value: SSAValue) -> Operation | None:
    return value.owner.parent_op() if isinstance(value.owner, Block) else value.owner


def flows(op: Operation | None) -> list[tuple[SSAValue, SSAValue]]:
    """What a structured operation hands on: pairs of a value and the value that it becomes."""
    if isinstance(op, scf.ForOp):
        carried = op.body.block.args[1:]
        last = op.body.block.last_op
        yields = [] if last is None else list(last.operands)
        return [
            *zip(op.iter_args, carried, strict=True),
            *zip(yields, carried, strict=True),
            *zip(yields, op.results, strict=True),
            *zip(op.iter_args, op.results, strict=True),
        ]
    if isinstance(op, scf.IfOp):
        ends = [r.block.last_op for r in op.regions if r.blocks]
        return [p for e in ends if e is not None for p in zip(e.operands, op.results, strict=False)]
    if isinstance(op, scf.WhileOp):
        before, after = op.before_region.block, op.after_region.block
        condition, last = before.last_op, after.last_op
        assert condition is not None
        assert last is not None
        passed = condition.operands[1:]
        return [
            *zip(op.arguments, before.args, strict=True),
            *zip(last.operands, before.args, strict=True),
            *zip(passed, after.args, strict=True),
            *zip(passed, op.results, strict=True),
        ]
    return []
