"""`print` and `assert` in the meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.language import typed
from phobos_nb.language.meaning.expressions import evaluate, is_tile
from phobos_nb.language.meaning.machine import Machine, Printed

Array = NDArray[Any]


def print_line(machine: Machine, statement: typed.Print) -> None:
    """One line per active thread, or `once` per CTA."""
    values = [evaluate(machine, a) for a in statement.arguments]
    for thread in _speakers(machine, statement.once):
        text = _formatted(machine, statement.text, statement.arguments, values, thread)
        machine.printed.append(Printed(machine.block, thread, len(machine.printed), text))


def check_assertion(machine: Machine, statement: typed.Assert) -> None:
    """Raise PH801 for the first active thread whose condition fails."""
    condition = evaluate(machine, statement.condition)
    if is_tile(statement.condition):
        failed, thread = not condition.all(), 0
    else:
        failing = ~np.broadcast_to(condition, (machine.threads,))
        failed, thread = machine.any_active(failing), machine.first(failing)
    if failed:
        values = [evaluate(machine, a) for a in statement.arguments]
        text = _formatted(machine, statement.text, statement.arguments, values, thread)
        machine.fail("PH801", f"assertion failed: {text} (thread {thread})", statement.span)


def _speakers(machine: Machine, once: bool) -> list[int]:
    active = np.flatnonzero(machine.active_mask()).tolist()
    return active[:1] if once else active


def _formatted(
    machine: Machine, text: str, arguments: tuple[typed.Expr, ...], values: list[Array], thread: int
) -> str:
    shown = [
        str(v) if is_tile(a) else str(np.broadcast_to(v, (machine.threads,))[thread])
        for a, v in zip(arguments, values, strict=True)
    ]
    return text.format(*shown)
