"""An index outside a shared array: who has it, and what mends it.

A condition by thread mends an index that differs between threads. Where all threads that come have one
index, no such condition helps, and one that lets few threads come is not at fault.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.counts import counted
from phobos_nb.language import typed
from phobos_nb.language.meaning.machine import Machine
from phobos_nb.source import Span

Array = NDArray[Any]


def expect_inside(machine: Machine, base: typed.SharedArray, indices: list[Array], place: Span) -> None:
    """Raise PH805 where an active thread leaves a shared array: nothing masks these accesses."""
    where = np.broadcast_arrays(*indices)
    outside = ~machine.shared[base].inside(where)
    if not machine.any_active(outside):
        return
    thread = machine.first(outside)
    index = [int(i if i.ndim == 0 else i[thread]) for i in indices]
    axis = next(a for a, (i, n) in enumerate(zip(index, base.type.shape, strict=True)) if not 0 <= i < n)
    element = f"{base.name}[{', '.join(map(str, index))}]"
    machine.fail(
        "PH805",
        f"{element} lies outside the shared array `{base.name}`: {base.type} (thread {thread})",
        place,
        _help(machine, base, axis, indices[axis], thread),
    )


def _help(machine: Machine, base: typed.SharedArray, axis: int, index: Array, thread: int) -> str:
    """What to change, by whether the index along the axis differs between the threads that come."""
    extent = base.type.shape[axis]
    found = int(index if index.ndim == 0 else index[thread])
    beyond = found >= extent
    if _is_shared(machine, index):
        has = f"axis {axis} of `{base.name}` has {counted(extent, 'element')}, 0 to {extent - 1}"
        side = "past the last" if beyond else "before the first"
        mend = "correct the index, or make the array larger" if beyond else "correct the index"
        return f"{has}, and {found} is {side} whichever thread comes: {mend}"
    takes = f"axis {axis} takes 0 to {extent - 1}"
    larger = ", or make the array larger" if beyond else ""
    if machine.active is None:
        return f"{takes}: guard the access with `if`{larger}"
    return f"{takes}: narrow the condition that lets thread {thread} come{larger}"


def _is_shared(machine: Machine, index: Array) -> bool:
    """Whether all active threads, of which there are several, have one index; a 0-d one is anyone's."""
    if index.ndim == 0:
        return True
    held = index[machine.active_mask()]
    return len(held) > 1 and bool((held == held[0]).all())
