"""What stands outside a tensor: paddings and masks that were forgotten."""

from __future__ import annotations

from collections.abc import Iterator

from phobos_nb.language.slips.expressions import infinite
from phobos_nb.language.tree import (
    CallExpression,
    Expression,
    Float,
    ForStatement,
    Infix,
    Integer,
    Name,
    Subscripted,
)


def masked(
    node: Expression, loop: ForStatement | None, *, whole: bool
) -> Iterator[tuple[int, Expression]]:
    """The value with something else outside: of a tensor's end, of the loop's.

    Costs and expressions: `pad(A[..], -inf)`, and `where(iota(STEP) < N - j, value, 0.0)` in a loop
    over j from 0 to N by STEP.
    """
    if whole and isinstance(node, Subscripted):
        for filler in _fillers(node):
            yield 2, CallExpression(Name("pad"), (node, filler), span=node.span)
    if loop is None or loop.step is None or isinstance(node, Integer | Float):
        return
    left = Infix("-", loop.stop, loop.name, span=node.span)
    inside = Infix("<", CallExpression(Name("iota"), (loop.step,)), left, span=node.span)
    for filler in _fillers(node)[:2]:
        yield 2, CallExpression(Name("where"), (inside, node, filler), span=node.span)


def _fillers(node: Expression) -> list[Expression]:
    lowest, highest = (infinite(node, negative=sign) for sign in (True, False))
    return [Float(0.0, span=node.span), lowest, highest, Float(1.0, span=node.span)]
