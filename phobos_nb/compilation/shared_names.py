"""Findings in shared memory by the buffer and element that a byte belongs to."""

from __future__ import annotations

import math
from dataclasses import replace

from phobos_nb.lower.plan_shared_memory import PlacedBuffer, SharedPlan
from phobos_nb.simulate.race_groups import grouped
from phobos_nb.simulate.records import AccessRecord, Fault, Race, SimulationResult
from phobos_nb.simulate.shared_arrays import indexed, split_offset


def with_shared_names(result: SimulationResult, plan: SharedPlan) -> SimulationResult:
    """The result whose faults, races and counts in shared memory name the buffer there.

    Races of one pair of lines on one buffer become one.
    Where several buffers share a byte, all are named. A byte behind all buffers counts from the last.
    """
    return replace(
        result,
        faults=[_named_fault(fault, plan) for fault in result.faults],
        races=grouped([_named_race(race, plan) for race in result.races]),
        accesses=[_named_access(access, plan) for access in result.accesses],
    )


def _named_fault(fault: Fault, plan: SharedPlan) -> Fault:
    if fault.tensor != "shared" or len(fault.element) != 1:
        return fault
    if fault.array is not None:
        return _left(fault, plan)
    (byte,) = fault.element
    buffers = _buffers_at(byte, plan)
    if any(f"{b.name}[" in fault.message for b in buffers):
        return fault
    if byte >= plan.total and plan.buffers:
        buffers = [max(plan.buffers, key=lambda b: b.offset)]
    if len(buffers) != 1:
        return fault
    element = f"{_element(buffers[0], byte)}, where `{buffers[0].name}` has {_extents(buffers[0])}"
    return replace(fault, message=f"{fault.message}: {element}")


def _left(fault: Fault, plan: SharedPlan) -> Fault:
    """A fault of an access that left its array: by the buffer's name and the index in its tile."""
    assert fault.array is not None
    start, shape = fault.array
    found = [b for b in plan.buffers if b.offset == start and math.prod(b.shape) == math.prod(shape)]
    if len(found) != 1 or fault.message.split(" ", 1)[1].startswith(found[0].name):
        return fault
    (buffer,) = found
    verb = fault.message.split("[", 1)[0].strip()
    index = list(fault.index)
    if len(index) != len(buffer.shape):  # a view of rank 1
        index = split_offset(index[-1], buffer.strides)
    place = f"{_indexed(buffer, index)}, outside `{buffer.name}` of {_extents(buffer)}"
    return replace(fault, message=f"{verb} {place}")


def _named_race(race: Race, plan: SharedPlan) -> Race:
    if race.tensor != "shared" or len(race.element) != 1:
        return race
    (byte,) = race.element
    name = " or ".join(_element(b, byte) for b in _buffers_at(byte, plan))
    return replace(race, name=name or race.name)


def _named_access(access: AccessRecord, plan: SharedPlan) -> AccessRecord:
    if access.space != "shared":
        return access
    return replace(access, name=" or ".join(b.name for b in _buffers_at(access.byte, plan)))


def _buffers_at(byte: int, plan: SharedPlan) -> list[PlacedBuffer]:
    return [b for b in plan.buffers if b.offset <= byte < b.offset + b.bytes]


def _element(buffer: PlacedBuffer, byte: int) -> str:
    """Such as `s[64]` or `a for dot[stage 1][3, 17]`: the tile's element at a byte of shared memory."""
    rest = (byte - buffer.offset) // max(1, buffer.bytes // max(1, math.prod(buffer.shape)))
    return _indexed(buffer, split_offset(rest, buffer.strides))


def _extents(buffer: PlacedBuffer) -> str:
    """Such as `40 x 4 elements in 4 stages`, in the order of the tile's axes, padding included."""
    shape = list(buffer.shape)
    stages = f" in {shape.pop(0)} stages" if buffer.stages > 1 else ""
    if buffer.order:
        shape = [shape[buffer.order.index(axis)] for axis in range(len(shape))]
    return f"{' x '.join(map(str, shape))} elements{stages}"


def _indexed(buffer: PlacedBuffer, index: list[int]) -> str:
    """The element of a buffer's array at an index, as an element of its tile."""
    stage = ""
    if buffer.stages > 1:
        stage = f"[stage {index.pop(0)}]"
    if buffer.order:
        index = [index[buffer.order.index(axis)] for axis in range(len(index))]
    return indexed(f"{buffer.name}{stage}", index)
