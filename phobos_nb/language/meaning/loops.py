"""Which threads of a CTA go on with a loop, wait for its next iteration, or have left it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

if TYPE_CHECKING:
    from phobos_nb.language.meaning.machine import Machine

Array = NDArray[Any]


class Loop:
    """The innermost loop while it runs; leaving the `with` block re-activates who left the loop."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.left: Array | None = None
        self.waiting: Array | None = None

    def __enter__(self) -> Loop:
        self.machine.loops.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        self.machine.loops.pop()
        self._rejoin(self.left)

    def keep(self, condition: Array) -> bool:
        """Let threads whose condition fails leave; whether any goes on."""
        machine = self.machine
        if condition.ndim == 0:
            return bool(condition) and not machine.halted
        leaving = machine.active_mask() & ~condition
        self.left = _union(self.left, leaving)
        machine.activate(machine.active_mask() & condition)
        return not machine.halted

    def leave(self) -> None:
        """`break` for the active threads."""
        self.left = _union(self.left, self.machine.active_mask())
        self._stop()

    def skip(self) -> None:
        """`continue` for the active threads."""
        self.waiting = _union(self.waiting, self.machine.active_mask())
        self._stop()

    def next(self) -> bool:
        """End an iteration; whether a thread is there for the next. `TimeoutError` past the deadline."""
        deadline = self.machine.launch.deadline
        if deadline is not None and time.perf_counter() > deadline:
            raise TimeoutError("the kernel runs for too long")
        self._rejoin(self.waiting)
        self.waiting = None
        return not self.machine.halted

    def _stop(self) -> None:
        self.machine.activate(self.machine.active_mask() & False)

    def _rejoin(self, threads: Array | None) -> None:
        if threads is not None:
            self.machine.activate(self._running() | threads)

    def _running(self) -> Array:
        return self.machine.active_mask()


def _union(one: Array | None, other: Array) -> Array:
    return other if one is None else one | other
