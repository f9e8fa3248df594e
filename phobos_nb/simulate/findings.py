"""Turning marked lanes into faults and races that name threads, CTAs and elements."""

from __future__ import annotations

import numpy as np

from phobos_nb.simulate.clocks import OP_MASK, OP_SHIFT
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.records import FaultKind, RaceKind
from phobos_nb.simulate.shadow import Conflict, in_flight, operation_of
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools, Ints, Ref


def report_lanes(
    m: Machine,
    s: Strand,
    kind: FaultKind,
    op: int,
    message: str,
    bad: Bools,
    lane: int,
    tensor: str = "",
    element: tuple[int, ...] = (),
) -> None:
    """Record a fault of the marked lanes; `lane` is the position of the one to name."""
    m.recorder.fault(
        kind,
        op,
        message,
        m.cta_of(s, lane),
        int(s.thread[lane]),
        tensor=tensor,
        element=element,
        count=int(bad.sum()),
    )


def report_unwritten(
    m: Machine, s: Strand, op: int, ref: Ref, bad: Bools, units: Ints, unit: int
) -> None:
    """Record a read of shared memory that nothing has written."""
    k, lane = _first(bad)
    element = element_of_unit(ref, s, lane, int(units[k, lane]), unit)
    report_lanes(
        m,
        s,
        "uninitialised",
        op,
        f"reads {ref.memory.name} at byte {element[0]}, which nothing has written",
        bad,
        lane,
        ref.memory.name,
        element,
    )


def report_conflict(
    m: Machine, s: Strand, op: int, ref: Ref, conflict: Conflict, units: Ints, unit: int
) -> None:
    """Record a race between an access and the earlier ones that its conflict names."""
    if not conflict.bad.any():
        return
    ops = np.where(conflict.bad, conflict.records >> OP_SHIFT & OP_MASK, -1)
    for other in np.unique(ops[conflict.bad]).tolist():
        chosen = conflict.bad & (ops == other)
        k, lane = _first(chosen)
        record = int(conflict.records[k, lane])
        cta, thread = m.owner(record)
        m.recorder.race(
            kind_of(conflict.kind, record),
            (operation_of(record), op),
            (cta, m.cta_of(s, lane)),
            (thread, int(s.thread[lane])),
            ref.memory.name,
            element_of_unit(ref, s, lane, int(units[k, lane]), unit),
            int(chosen.sum()),
        )


def kind_of(kind: RaceKind, record: int) -> RaceKind:
    """What to call a race with the access of a record: under way, it is told by that."""
    if not in_flight(record):
        return kind
    return "read in flight" if kind == "write after read" else "copy in flight"


def element_of_unit(ref: Ref, s: Strand, lane: int, unit: int, size: int) -> tuple[int, ...]:
    """How a person names a shadow unit: byte offset in shared memory, index in a tensor."""
    origin = ref.memory.origin(ref.dtype, s.cta[lane : lane + 1])
    start = int(np.asarray(origin).reshape(-1)[0]) * ref.dtype.itemsize
    offset = unit * size - start
    if ref.memory.space == "shared":
        return (offset % ref.memory.allocation.stride,)
    return ref.memory.index_of(offset // ref.dtype.itemsize, ref.dtype.itemsize)


def _first(bad: Bools) -> tuple[int, int]:
    """Unit and lane of a marked entry of [units, lanes], in the lowest lane."""
    lane = int(bad.any(0).argmax())
    return int(bad[:, lane].argmax()), lane
