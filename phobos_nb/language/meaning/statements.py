"""What a statement does to a CTA: one function per kind of node.

Threads of a CTA go statement by statement in step; where control flow parts, the mask of active
threads narrows. Nothing re-activates a thread but the end of the construct it left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.language import typed
from phobos_nb.language.meaning.conversion import convert
from phobos_nb.language.meaning.expressions import box, dtype_of, evaluate
from phobos_nb.language.meaning.loops import Loop
from phobos_nb.language.meaning.machine import Machine
from phobos_nb.language.meaning.output import check_assertion, print_line
from phobos_nb.language.meaning.outside import expect_inside
from phobos_nb.language.types import ScalarType
from phobos_nb.source import Span

Array = NDArray[Any]


def execute(machine: Machine, body: tuple[typed.Statement, ...]) -> None:
    """Run statements in order until no thread is active."""
    for statement in body:
        if machine.halted:
            return
        _EXECUTORS[type(statement)](machine, statement)


def _assign(machine: Machine, statement: typed.Assign) -> None:
    set_variable(machine, statement.variable, evaluate(machine, statement.value))


def set_variable(machine: Machine, variable: typed.Variable, value: Array) -> None:
    """Give the active threads a new value; the others keep theirs."""
    old = machine.variables.get(variable)
    if machine.active is not None and old is not None and isinstance(variable.type, ScalarType):
        value = np.where(machine.active, value, old)
    machine.variables[variable] = value


def _store_tile(machine: Machine, statement: typed.StoreTile) -> None:
    memory = machine.memory(statement.region.tensor)
    value = evaluate(machine, statement.value)
    value = convert(value, dtype_of(statement.value), memory.dtype)
    where = box(machine, statement.region)
    shape = np.broadcast_to(value, statement.region.shape)
    memory.write_box(where, shape.reshape([s.length for s in where]))


def _store_element(machine: Machine, statement: typed.StoreElement) -> None:
    memory = machine.memory(statement.base)
    indices = [evaluate(machine, i) for i in statement.indices]
    value = convert(evaluate(machine, statement.value), dtype_of(statement.value), memory.dtype)
    if isinstance(statement.base, typed.SharedArray):
        expect_inside(machine, statement.base, indices, _target(statement))
    shared_by_all = all(v.ndim == 0 for v in (*indices, value))
    memory.write(indices, value, None if shared_by_all else machine.active)


def _target(statement: typed.StoreElement) -> Span:
    """From the name of what is stored to up to the bracket behind its subscripts."""
    start = statement.span.start
    return Span(start, max(start, *(i.span.stop for i in statement.indices)) + 1)


def _evaluate(machine: Machine, statement: typed.Evaluate) -> None:
    evaluate(machine, statement.value)


def _if(machine: Machine, statement: typed.If) -> None:
    condition = evaluate(machine, statement.condition)
    if condition.ndim == 0:
        execute(machine, statement.then if condition else statement.otherwise)
        return
    before = machine.active_mask()
    after = [
        _branch(machine, before & condition, statement.then),
        _branch(machine, before & ~condition, statement.otherwise),
    ]
    machine.activate(after[0] | after[1])


def _branch(machine: Machine, mask: Array, body: tuple[typed.Statement, ...]) -> Array:
    """Run a branch for some threads; the threads that reach its end."""
    machine.activate(mask)
    execute(machine, body)
    return machine.active_mask() if not machine.halted else np.zeros_like(mask)


def _for(machine: Machine, statement: typed.For) -> None:
    with Loop(machine) as loop:
        for position in _positions(machine, statement):
            set_variable(machine, statement.variable, position)
            execute(machine, statement.body)
            if not loop.next():
                return


def _positions(machine: Machine, statement: typed.For) -> Iterator[Array]:
    """The loop variable's values; threads whose range has ended wait at the loop's end."""
    start, stop, step = (evaluate(machine, e) for e in (statement.start, statement.stop, statement.step))
    if machine.any_active(step == 0):
        machine.fail("PH804", "a range whose step is 0", statement.step.span)
    position = start
    while True:
        inside = np.where(step > 0, position < stop, position > stop)
        if not machine.loops[-1].keep(inside):
            return
        yield position
        position = position + step


def _while(machine: Machine, statement: typed.While) -> None:
    with Loop(machine) as loop:
        while loop.keep(evaluate(machine, statement.condition)):
            execute(machine, statement.body)
            if not loop.next():
                return


def _break(machine: Machine, statement: typed.Break) -> None:  # noqa: ARG001
    machine.loops[-1].leave()


def _continue(machine: Machine, statement: typed.Continue) -> None:  # noqa: ARG001
    machine.loops[-1].skip()


def _return(machine: Machine, statement: typed.Return) -> None:  # noqa: ARG001
    machine.activate(np.zeros(machine.threads, bool))


_EXECUTORS: dict[type[typed.Statement], Callable[[Machine, Any], None]] = {
    typed.Assign: _assign,
    typed.StoreTile: _store_tile,
    typed.StoreElement: _store_element,
    typed.Evaluate: _evaluate,
    typed.For: _for,
    typed.While: _while,
    typed.If: _if,
    typed.Break: _break,
    typed.Continue: _continue,
    typed.Return: _return,
    typed.Assert: check_assertion,
    typed.Print: print_line,
}
