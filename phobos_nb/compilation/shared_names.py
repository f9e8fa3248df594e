"""Faults in shared memory by the array that the source declares, not only by a byte of the CTA."""

from __future__ import annotations

import math
from dataclasses import replace

from phobos_nb.lower.plan_shared_memory import PlacedBuffer, SharedPlan
from phobos_nb.simulate.records import Fault, SimulationResult


def with_shared_names(result: SimulationResult, plan: SharedPlan) -> SimulationResult:
    """The result whose faults in shared memory name array and element where one array holds the byte.

    A byte behind all arrays counts from the last one.
    """
    return replace(result, faults=[_named(fault, plan) for fault in result.faults])


def _named(fault: Fault, plan: SharedPlan) -> Fault:
    if fault.tensor != "shared" or len(fault.element) != 1:
        return fault
    (byte,) = fault.element
    buffers = [b for b in plan.buffers if b.offset <= byte < b.offset + b.bytes]
    if byte >= plan.total and plan.buffers:
        buffers = [max(plan.buffers, key=lambda b: b.offset)]
    if len(buffers) != 1:
        return fault
    return replace(fault, message=f"{fault.message}: {_element(buffers[0], byte)}")


def _element(buffer: PlacedBuffer, byte: int) -> str:
    """Such as `s[64]`: the element at a byte of shared memory, and the array's extents."""
    rest = (byte - buffer.offset) // max(1, buffer.bytes // max(1, math.prod(buffer.shape)))
    index: list[int] = []
    for stride in buffer.strides:
        index.append(rest // max(1, stride))
        rest %= max(1, stride)
    extents = " x ".join(map(str, buffer.shape))
    return f"{buffer.name}[{', '.join(map(str, index))}], where `{buffer.name}` has {extents} elements"
