"""Conditions that keep accesses inside their tensors: what they leave out is counted as masked.

Lowering tests `index < extent` unsigned, on indices, which no comparison of an author becomes; its
other conditions of an access (a lane that stores for its CTA, an author's `if`) leave lanes out of the
program, not elements out of a tensor. A condition is the conjunction of both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.dialects.arith import CmpiOp
from phobos_nb.ir.dialects.memref import GenericAtomicRMWOp
from phobos_nb.ir.dialects.nvgpu import DeviceAsyncCopyOp
from phobos_nb.ir.dialects.vector_memory import LoadOp, StoreOp
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.ops.common import static_shape
from phobos_nb.simulate.program import Decoder, element_dtype
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools, Ref, is_array


@dataclass(frozen=True)
class Guarded:
    """An access under a guard: its operation, the slot of its memref, elements and bytes per lane."""

    op: int
    kind: str
    memref: int
    elements: int
    size: int


@dataclass(frozen=True)
class Guard:
    """The accesses under a condition, and the slots of its parts: tests of bounds and others."""

    bounds: tuple[int, ...]
    others: tuple[int, ...]
    accesses: tuple[Guarded, ...]

    def count(self, m: Machine, s: Strand, met: Bools | bool) -> None:
        """Add the elements that active lanes would move outside their tensor; met: the condition."""
        if not m.watch.banks or (met.all() if is_array(met) else met):
            return
        asked = _all(s, self.others) if s.mask is None else _all(s, self.others) & s.mask
        left_out = int((asked & ~_all(s, self.bounds)).sum())
        for access in self.accesses if left_out else ():
            ref: Ref = s.values[access.memref]
            counts = m.recorder.access(
                access.op, access.kind, ref.memory.space, ref.memory.name, access.elements, access.size
            )
            counts.record.masked += left_out * access.elements


def guards_of(d: Decoder, op: scf.IfOp, inside: range) -> list[Guard]:
    """The guard that a condition is of the operations `inside` its first branch, if it is one."""
    parts = list(_parts(op.cond))
    bounds = tuple(d.slot(p) for p in parts if _tests_bounds(p))
    others = tuple(d.slot(p) for p in parts if not _tests_bounds(p))
    accesses = tuple(_accesses(d, inside))
    elsewhere = any(_access(o) for o in op.false_region.walk())
    return [Guard(bounds, others, accesses)] if bounds and accesses and not elsewhere else []


def _parts(condition: SSAValue) -> Iterator[SSAValue]:
    if isinstance(condition.owner, arith.AndIOp):
        yield from _parts(condition.owner.lhs)
        yield from _parts(condition.owner.rhs)
    else:
        yield condition


def _tests_bounds(part: SSAValue) -> bool:
    made = part.owner
    return (
        isinstance(made, CmpiOp)
        and made.predicate_name == "ult"
        and isinstance(made.lhs.type, IndexType)
    )


def _all(s: Strand, slots: tuple[int, ...]) -> Bools:
    found = np.ones(s.count, bool)
    for slot in slots:
        found = found & np.broadcast_to(np.asarray(s.values[slot], bool), (s.count,))
    return found


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
            yield Guarded(index, kind, d.slot(base), elements, size)


def _access(op: Operation) -> tuple[str, SSAValue, int] | None:
    """Kind, memref and elements per lane of what moves elements of a tensor."""
    if isinstance(op, memref.LoadOp):
        return "load", op.memref, 1
    if isinstance(op, memref.StoreOp):
        return "store", op.memref, 1
    if isinstance(op, memref.AtomicRMWOp | GenericAtomicRMWOp):
        return "atomic", op.memref, 1
    if isinstance(op, LoadOp):
        return "load", op.base, math.prod(static_shape(op.result.type))
    if isinstance(op, StoreOp):
        return "store", op.base, math.prod(static_shape(op.vector.type))
    if isinstance(op, DeviceAsyncCopyOp):
        return "load", op.src, op.dst_elements.value.data
    return None
