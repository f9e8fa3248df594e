"""Loops: variables set inside and declared before are carried from iteration to iteration.

A loop that can be left early becomes an `scf.while` with a flag: each thread leaves by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from phobos_nb.ir.builder import INDEX
from phobos_nb.language.typed import For, While
from phobos_nb.lower.build_tile_ir.branches import Block
from phobos_nb.lower.build_tile_ir.control import EARLY_EXIT, escapes
from phobos_nb.lower.build_tile_ir.expressions import Expressions
from phobos_nb.lower.build_tile_ir.ranges import Range, counted_range
from phobos_nb.lower.build_tile_ir.state import Flag, Hidden, Key, Scope, State, hint


def counted_loop(state: State, loop: For, build: Block) -> None:
    """A counted loop; its bounds are evaluated once, its body is built by `build`."""
    limits = counted_range(Expressions(state), loop)
    if escapes(loop.body) & EARLY_EXIT:
        _counted_by_hand(state, loop, limits, build)
    else:
        _counted(state, loop, limits, build)


def while_loop(state: State, loop: While, build: Block) -> None:
    """A `while`: the condition is evaluated anew each time, unless the thread has left."""
    leaves = bool(escapes(loop.body) & EARLY_EXIT)
    scope = Scope(Flag("live"), Flag("going") if leaves else None)

    def condition() -> SSAValue:
        return Expressions(state).value(loop.condition)

    def more() -> SSAValue:
        return (
            condition() if scope.going is None else _only_if(state, state.values[scope.going], condition)
        )

    def body() -> None:
        with state.scope(scope):
            build(loop.body)

    _while(state, scope, state.changed([loop]), more, body)


def _counted(state: State, loop: For, limits: Range, build: Block) -> None:
    builder = state.builder
    scope = Scope(Flag("live"))
    keys = state.changed([loop])
    before = dict(state.values)
    op = builder.for_(limits.start, limits.stop, limits.step, [before[k] for k in keys])
    if loop.unroll > 1:
        op.attributes["phobos.unroll"] = IntegerAttr(loop.unroll, i64)
    count, *carried = op.body.block.args
    with builder.inside(op.body.block):
        state.bind(keys, carried)
        state.values[scope.live] = builder.true()
        _bind_variable(state, loop, limits, count)
        with state.scope(scope):
            build(loop.body)
        builder.yield_([state.values[k] for k in keys])
    state.values = before
    state.bind(keys, op.res)


def _counted_by_hand(state: State, loop: For, limits: Range, build: Block) -> None:
    builder = state.builder
    scope = Scope(Flag("live"), Flag("going"))
    going, position = scope.flags[-1], Hidden("position", INDEX)
    changed = state.changed([loop])
    state.values[position] = limits.start

    def more() -> SSAValue:
        inside = builder.cmpi("slt", state.values[position], limits.stop)
        return builder.andi(inside, state.values[going])

    def body() -> None:
        here = state.values[position]
        _bind_variable(state, loop, limits, here)
        with state.scope(scope):
            build(loop.body)
        state.values[position] = builder.addi(here, limits.step)

    _while(state, scope, (position, *changed), more, body)


def _bind_variable(state: State, loop: For, limits: Range, count: SSAValue) -> None:
    state.values[loop.variable] = hint(limits.variable(state.builder, count), loop.variable.name)


def _while(
    state: State,
    scope: Scope,
    keys: Sequence[Key],
    more: Callable[[], SSAValue],
    body: Callable[[], None],
) -> None:
    """`while more() { body() }`, carrying `keys` and the scope's `going` flag."""
    builder = state.builder
    if scope.going is not None:
        state.values[scope.going] = builder.true()
        keys = (scope.going, *keys)
    before = dict(state.values)
    op = builder.while_([before[k] for k in keys])
    with builder.inside(op.before_region.block):
        state.bind(keys, op.before_region.block.args)
        builder.condition(more(), op.before_region.block.args)
    with builder.inside(op.after_region.block):
        state.bind(keys, op.after_region.block.args)
        state.values[scope.live] = builder.true()
        body()
        builder.yield_([state.values[k] for k in keys])
    state.values = before
    state.bind(keys, op.res)


def _only_if(state: State, asked: SSAValue, value: Callable[[], SSAValue]) -> SSAValue:
    """`asked && value()`, where `value` is built to run only if it is asked for."""
    builder = state.builder
    op = builder.if_(asked, [asked.type])
    with builder.inside(op.true_region.block):
        builder.yield_([value()])
    with builder.inside(op.false_region.block):
        builder.yield_([builder.false()])
    return op.output[0]
