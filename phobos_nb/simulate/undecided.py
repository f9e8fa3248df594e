"""Branches that are decided by shared memory that nothing has written.

The outputs may be the same whatever those bytes are here and not on a GPU, so such a branch is a fault
of its own. A value is followed from its load through arithmetic to the condition; not through a
selection or a conjunction, which may well have left out the lanes that hold nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects import memref
from xdsl.ir import Operation, OpResult, SSAValue

from phobos_nb.ir.dialects.vector_memory import LoadOp
from phobos_nb.simulate.findings import report_lanes
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.strand import Strand

LOADS = (memref.LoadOp, LoadOp, memref.AtomicRMWOp)
STOPS = {"arith.andi", "arith.ori", "arith.select", "arith.constant"}


def loads_behind(condition: SSAValue) -> list[Operation]:
    """The loads from which a condition is computed by arithmetic alone."""
    found: dict[Operation, None] = {}
    seen: set[SSAValue] = set()
    left = [condition]
    while left:
        value = left.pop()
        if value in seen or not isinstance(value, OpResult):
            continue
        seen.add(value)
        if isinstance(value.op, LOADS):
            found[value.op] = None
        elif not value.op.regions and value.op.name not in STOPS and _is_arithmetic(value.op):
            left += value.op.operands
    return list(found)


def _is_arithmetic(op: Operation) -> bool:
    return op.name.split(".")[0] in ("arith", "math", "vector")


def branch_check(
    operations: Sequence[Operation], condition: SSAValue, branch: int
) -> Callable[[Machine, Strand], None] | None:
    """Looks for active lanes whose condition was loaded from unwritten memory; `None` where none can."""
    loads = [operations.index(op) for op in loads_behind(condition)]
    if not loads:
        return None

    def check(m: Machine, s: Strand) -> None:
        unwritten = m.unwritten
        for op in loads:
            threads = unwritten.threads.get(op)
            if threads is None or not len(threads):
                continue
            bad = np.isin(s.gid, threads)
            bad = bad if s.mask is None else bad & s.mask
            if bad.any():
                text = f"{unwritten.said[op]}, and {m.recorder.places[branch]} branches on it"
                lane = int(bad.argmax())
                report_lanes(m, s, "uninitialised", op, text, bad, lane, "shared", certain=True)

    return check
