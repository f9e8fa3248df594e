"""Turning marked lanes into faults and races that name threads, CTAs and elements."""

from __future__ import annotations

import numpy as np

from phobos_nb.simulate.banks import AccessKind
from phobos_nb.simulate.clocks import OP_MASK, OP_SHIFT, SEVERAL
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.memory import Tensor
from phobos_nb.simulate.records import FaultKind, RaceKind
from phobos_nb.simulate.shadow import Conflict, in_flight, operation_of
from phobos_nb.simulate.shared_arrays import SharedArray, indexed, left_array
from phobos_nb.simulate.site import Site
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools, Ints, Ref, Value


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
    index: tuple[int, ...] = (),
    array: SharedArray | None = None,
    *,
    certain: bool = False,
    remedy: str = "",
) -> None:
    """Record a fault of the marked lanes; `lane` is the position of the one to name.

    index: of the element in the shared array that an access left. certain, remedy: see `Recorder.fault`.
    """
    lanes = bad.reshape(-1, s.count).any(0) & (s.cta == s.cta[lane])
    m.recorder.fault(
        kind,
        op,
        message,
        m.cta_of(s, lane),
        int(s.thread[lane]),
        tensor=tensor,
        element=element,
        count=int(bad.sum()),
        threads=tuple(s.thread[lanes].tolist()),
        index=index,
        array=None if array is None else (array.start, array.shape),
        certain=certain,
        remedy=remedy,
    )


VERBS: dict[AccessKind, str] = {
    "load": "reads",
    "matrix": "reads",
    "store": "writes",
    "matrix_store": "writes",
    "async": "copies to",
    "atomic": "updates",
}


def report_outside(
    m: Machine, s: Strand, site: Site, ref: Ref, bad: Bools, lane: int, offset: int
) -> None:
    """Record the lanes of an access that leave its memory or array; the one to name does at `offset`."""
    memory, array, size = ref.memory, ref.array, ref.dtype.itemsize
    element = memory.index_of(offset, size)
    index = () if array is None else array.index_of(offset)
    if array is not None and not array.holds(index):
        place = left_array(array.name, array.shape, index)
    elif isinstance(memory, Tensor):
        place = left_array(memory.name, memory.shape, element)
    else:
        bytes_ = memory.bounds(np.dtype(np.int8))[1] + 1
        place = f"byte {element[0]}, outside the {bytes_} bytes of {memory.name} memory"
    text = f"{VERBS[site.kind]} {place}"
    report_lanes(m, s, "out_of_bounds", site.op, text, bad, lane, memory.name, element, index, array)


def report_misaligned(
    m: Machine, s: Strand, site: Site, ref: Ref, bad: Bools, lane: int, at: Value
) -> None:
    """Record the lanes of an access whose address has not the promised alignment."""
    memory, size = ref.memory, ref.dtype.itemsize
    place = int(np.broadcast_to(at, (s.count,))[lane])
    offset = place - int(np.broadcast_to(memory.origin(ref.dtype, s.cta), (s.count,))[lane])
    element = memory.index_of(offset, size)
    index = element if ref.array is None else ref.array.index_of(offset)
    name = ref.name or "shared memory"
    byte = (memory.allocation.address + place * size) % memory.allocation.stride
    shown = indexed(name, index) if ref.array or memory.space == "global" else name
    text = (
        f"{VERBS[site.kind].split()[0]} {site.alignment * size} bytes at once at {shown}, "
        f"byte {byte} of its memory, which is no multiple of {site.alignment * size}"
    )
    report_lanes(m, s, "misaligned", site.op, text, bad, lane, memory.name, element)


def report_unwritten(
    m: Machine, s: Strand, op: int, ref: Ref, bad: Bools, units: Ints, unit: int
) -> str:
    """Record a read of shared memory that nothing has written; what is said of it."""
    (k,), lane = first_marked(bad)
    element = element_of_unit(ref, s, lane, int(units[k, lane]), unit)
    place = _name_of(ref, element) or f"{ref.memory.name} memory at byte {element[0]}"
    text = f"reads {place}, which nothing has written"
    report_lanes(m, s, "uninitialised", op, text, bad, lane, ref.memory.name, element)
    return text


def report_conflict(
    m: Machine, s: Strand, op: int, ref: Ref, conflict: Conflict, units: Ints, unit: int
) -> None:
    """Record a race between an access and the earlier ones that its conflict names."""
    if not conflict.bad.any():
        return
    ops = np.where(conflict.bad, conflict.records >> OP_SHIFT & OP_MASK, -1)
    for other in np.unique(ops[conflict.bad]).tolist():
        chosen = conflict.bad & (ops == other)
        (k,), lane = first_marked(chosen)
        record = int(conflict.records[k, lane])
        cta, thread = m.owner(record)
        element = element_of_unit(ref, s, lane, int(units[k, lane]), unit)
        m.recorder.race(
            kind_of(conflict.kind, record),
            (operation_of(record), op),
            (cta, m.cta_of(s, lane)),
            (thread, int(s.thread[lane])),
            ref.memory.name,
            element,
            int(chosen.sum()),
            several=bool(record & SEVERAL),
            name=_name_of(ref, element),
        )


def _name_of(ref: Ref, element: tuple[int, ...]) -> str:
    """A shared array's element at a byte of shared memory, where the array's name is known."""
    if ref.array is None or not ref.array.name:
        return ""
    index = ref.array.index_of(element[0] // ref.dtype.itemsize)
    return indexed(ref.name, index)


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


def first_marked(mask: Bools) -> tuple[tuple[int, ...], int]:
    """Element index and lane of a marked element, in the lowest lane."""
    lanes = mask.any(tuple(range(mask.ndim - 1))) if mask.ndim > 1 else mask
    lane = int(lanes.argmax())
    column = mask[..., lane]
    index = np.unravel_index(int(np.asarray(column).argmax()), column.shape) if mask.ndim > 1 else ()
    return tuple(int(i) for i in index), lane
