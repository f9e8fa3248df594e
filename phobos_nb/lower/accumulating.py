"""Loops that do nothing but load tiles and accumulate dots on them."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import SSAValue

from phobos_nb.ir.dialects import tile
from phobos_nb.lower.finish import is_pure


def does_more(loop: scf.ForOp, *, several: bool = False) -> str:
    """What a loop does beside that, or carries beside accumulators; empty where nothing.

    several: whether a value may be the accumulator of several dots, one after the other.
    """
    body = loop.body.block
    assert body.last_op is not None
    for argument, result in zip(body.args[1:], body.last_op.operands, strict=True):
        dots = _dots_between(argument, result)
        if not dots or (len(dots) > 1 and not several):
            number = "dots" if several else "one dot"
            return f"the loop carries a value that is not the accumulator of {number}"
    if any(not is_pure(op) and not isinstance(op, tile.LoadOp | scf.YieldOp) for op in body.ops):
        return "the loop does more than load and accumulate"
    return ""


def _dots_between(argument: SSAValue, result: SSAValue) -> list[tile.DotOp]:
    """The dots that add to a carried value one after the other; none where it is used otherwise."""
    found: list[tile.DotOp] = []
    value = result
    while value is not argument:
        dot = value.owner
        if not isinstance(dot, tile.DotOp) or not value.has_one_use():
            return []
        found.append(dot)
        value = dot.acc
    return found if argument.has_one_use() else []
