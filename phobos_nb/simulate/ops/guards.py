"""Conditions that keep accesses from going past the end: what they leave out is counted as masked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from xdsl.dialects import memref, scf
from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.dialects.memref import GenericAtomicRMWOp
from phobos_nb.ir.dialects.nvgpu import DeviceAsyncCopyOp
from phobos_nb.ir.dialects.vector_memory import LoadOp, MaskedLoadOp, MaskedStoreOp, StoreOp
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.ops.common import static_shape
from phobos_nb.simulate.ops.named import Elements, Lanes, copied_elements, lanes_of, masked_elements
from phobos_nb.simulate.program import Decoder, element_dtype
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools, Ref, is_array


@dataclass(frozen=True)
class Guarded:
    """An access under a guard: its operation, the slot of its memref, elements and bytes per lane.

    named: which of the elements it names, None for all.
    """

    op: int
    kind: str
    memref: int
    elements: int
    size: int
    named: Elements | None


@dataclass(frozen=True)
class Guard:
    """The accesses under a condition that asks for an end, and the lanes that name elements there."""

    lanes: Lanes
    accesses: tuple[Guarded, ...]

    def count(self, m: Machine, s: Strand, met: Bools | bool) -> None:
        """Add the elements that active lanes would move past the end; met: the condition."""
        if not m.watch.banks or (met.all() if is_array(met) else met):
            return
        left_out = self.lanes.of(s) & ~np.broadcast_to(np.asarray(met, bool), (s.count,))
        if s.mask is not None:
            left_out = left_out & s.mask
        for access in self.accesses if left_out.any() else ():
            elements = access.elements if access.named is None else access.named.of(s)
            masked = int((left_out * elements).sum())
            if masked:
                ref: Ref = s.values[access.memref]
                counts = m.recorder.access(
                    access.op,
                    access.kind,
                    ref.memory.space,
                    ref.memory.name,
                    access.elements,
                    access.size,
                )
                counts.record.masked += masked


def guards_of(d: Decoder, op: scf.IfOp, inside: range) -> list[Guard]:
    """The guard that a condition is of the operations `inside` its first branch, if it is one."""
    lanes, ends = lanes_of(d, op.cond)
    accesses = tuple(_accesses(d, inside)) if ends else ()
    elsewhere = any(_access(o) for o in op.false_region.walk())
    return [Guard(lanes, accesses)] if accesses and not elsewhere else []


def _accesses(d: Decoder, inside: range) -> Iterator[Guarded]:
    """Those of a branch without further control flow."""
    operations = [d.program.operations[k] for k in inside]
    if any(isinstance(o, scf.IfOp | scf.ForOp | scf.WhileOp) for o in operations):
        return
    for index, op in zip(inside, operations, strict=True):
        found = _access(op)
        if found is not None:
            kind, base, elements = found
            size = element_dtype(base.type).itemsize
            yield Guarded(index, kind, d.slot(base), elements, size, _named(d, op, elements))


def _access(op: Operation) -> tuple[str, SSAValue, int] | None:
    """Kind, memref and elements per lane of what moves elements of a tensor."""
    if isinstance(op, memref.LoadOp):
        return "load", op.memref, 1
    if isinstance(op, memref.StoreOp):
        return "store", op.memref, 1
    if isinstance(op, memref.AtomicRMWOp | GenericAtomicRMWOp):
        return "atomic", op.memref, 1
    if isinstance(op, LoadOp | MaskedLoadOp):
        return "load", op.base, math.prod(static_shape(op.result.type))
    if isinstance(op, StoreOp):
        return "store", op.base, math.prod(static_shape(op.vector.type))
    if isinstance(op, MaskedStoreOp):
        return "store", op.base, math.prod(static_shape(op.value.type))
    if isinstance(op, DeviceAsyncCopyOp):
        return "load", op.src, op.dst_elements.value.data
    return None


def _named(d: Decoder, op: Operation, elements: int) -> Elements | None:
    if isinstance(op, MaskedLoadOp | MaskedStoreOp):
        return masked_elements(d, op.mask, elements)
    return copied_elements(d, op) if isinstance(op, DeviceAsyncCopyOp) else None
