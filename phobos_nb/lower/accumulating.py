"""Loops that do nothing but load tiles and accumulate dots on them."""

from __future__ import annotations

from xdsl.dialects import scf

from phobos_nb.ir.dialects import tile
from phobos_nb.lower.finish import is_pure


def does_more(loop: scf.ForOp) -> str:
    """What a loop does beside that, or carries beside accumulators; empty where nothing."""
    body = loop.body.block
    assert body.last_op is not None
    for argument, result in zip(body.args[1:], body.last_op.operands, strict=True):
        own = isinstance(result.owner, tile.DotOp) and result.owner.acc is argument
        if not own or len(list(argument.uses)) != 1 or len(list(result.uses)) != 1:
            return "the loop carries a value that is not the accumulator of one dot"
    if any(not is_pure(op) and not isinstance(op, tile.LoadOp | scf.YieldOp) for op in body.ops):
        return "the loop does more than load and accumulate"
    return ""
