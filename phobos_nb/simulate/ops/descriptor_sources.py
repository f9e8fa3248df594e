"""From a matrix descriptor back to the arrays whose memory it was made for."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.ir import BlockArgument, OpResult, SSAValue

from phobos_nb.ir.dialects.wgmma import WgmmaDescriptorOp


def sources_of(descriptor: SSAValue) -> tuple[SSAValue, ...]:
    """The memrefs that a descriptor may describe: through sums, choices and loops."""
    found: dict[SSAValue, None] = {}
    seen: set[SSAValue] = set()
    left = [descriptor]
    while left:
        value = left.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, OpResult) and isinstance(value.op, WgmmaDescriptorOp):
            found[value.op.src] = None
        else:
            left += _behind(value)
    return tuple(found)


def _behind(value: SSAValue) -> list[SSAValue]:
    """The values that a value was made from, where its operation passes descriptors on."""
    if isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        if not isinstance(loop, scf.ForOp) or value.index == 0:
            return []
        return [loop.iter_args[value.index - 1], *_yielded(loop, value.index - 1)]
    assert isinstance(value, OpResult)
    if isinstance(value.op, scf.ForOp):
        return [value.op.iter_args[value.index], *_yielded(value.op, value.index)]
    if isinstance(value.op, scf.IfOp):
        return _yielded(value.op, value.index)
    return list(value.op.operands) if isinstance(value.op, arith.AddiOp | arith.SelectOp) else []


def _yielded(op: scf.ForOp | scf.IfOp, index: int) -> list[SSAValue]:
    lasts = [region.block.last_op for region in op.regions if region.blocks]
    return [last.operands[index] for last in lasts if last is not None]
