"""Branches: what an arm sets of variables declared before becomes a result of `scf.if`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import scf
from xdsl.ir import SSAValue

from phobos_nb.ir.fold import constant_value
from phobos_nb.language.typed import Statement
from phobos_nb.lower.build_tile_ir.state import State, key_type

Block = Callable[[Sequence[Statement]], None]


def branch(
    state: State,
    condition: SSAValue,
    then: Sequence[Statement],
    otherwise: Sequence[Statement],
    build: Block,
) -> None:
    """Build `then` or `otherwise`, each by `build`; a constant condition leaves only one of them."""
    known = constant_value(condition)
    if known is not None:
        build(then if known else otherwise)
        return
    keys = state.changed(then, otherwise)
    before = dict(state.values)
    op = state.builder.if_(condition, [key_type(k) for k in keys], otherwise=bool(keys or otherwise))
    for region, statements in zip(op.regions, (then, otherwise), strict=True):
        if region.blocks:
            state.values = dict(before)
            with state.builder.inside(region.block):
                build(statements)
                state.builder.yield_([state.values[k] for k in keys])
    state.values = before
    state.bind(keys, _simplified(state, op))


def _simplified(state: State, op: scf.IfOp) -> Sequence[SSAValue]:
    """The results of a branch; one whose arms only pick values becomes selects."""
    arms = [region.block for region in op.regions if region.blocks]
    if any(arm.first_op is not arm.last_op for arm in arms):
        return op.output
    picks = [arm.last_op.operands for arm in arms if arm.last_op is not None]
    results = [
        state.builder.select(op.cond, chosen, other)
        for chosen, other in (zip(*picks, strict=True) if op.output else ())
    ]
    op.detach()
    op.erase()
    return results
