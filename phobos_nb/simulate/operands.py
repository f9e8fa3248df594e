"""What a thread computed a stored value from: the operations behind it and their values there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from phobos_nb.ir.dialects.vector_memory import MaskedStoreOp
from phobos_nb.ir.locations import place_of
from phobos_nb.simulate.memory import Allocation
from phobos_nb.simulate.values import Ref, is_array

if TYPE_CHECKING:
    from phobos_nb.simulate.site import Located, Site
    from phobos_nb.simulate.strand import Strand

DEPTH = 5
"""Operations between a stored value and the farthest operand that is kept."""


@dataclass(frozen=True)
class Operand:
    """One value behind a stored one: `depth` operations back, made by `op` at a source line.

    `value` is a number, or the thread's vector.
    """

    depth: int
    op: str
    line: int
    value: Any

    def __str__(self) -> str:
        line = f" (line {self.line})" if self.line else ""
        return f"{'  ' * self.depth}{self.op}{line} = {_shown(self.value)}"


def _shown(value: Any) -> str:
    if not np.size(value) > 1:
        return str(np.ravel(value)[0])
    return np.array2string(np.ravel(value), max_line_width=500, separator=", ", threshold=8)


def _stored_value(store: Operation) -> SSAValue:
    return store.value if isinstance(store, MaskedStoreOp) else store.operands[0]


class Probe:
    """Keeps the operands of the last store to one byte of an allocation."""

    def __init__(
        self,
        allocation: Allocation,
        position: int,
        operations: Sequence[Operation],
        slots: Mapping[SSAValue, int],
    ) -> None:
        self.allocation = allocation
        self.position = position
        self.operations = operations
        self.slots = slots
        self.operands: list[Operand] = []
        self.step: int | None = None

    def stored(self, s: Strand, site: Site, ref: Ref, where: Located, step: int | None) -> None:
        """A store, a step of its CTA: keep what is behind it if a live element covers the byte."""
        if ref.memory.allocation is not self.allocation:
            return
        size = ref.dtype.itemsize
        shape = (*site.shape, s.count)
        first = np.broadcast_to(where.positions(), shape) * size
        hits = (first <= self.position) & (self.position < first + size)
        if where.live is not None:
            hits &= where.live
        lanes = np.flatnonzero(hits.reshape(-1, s.count).any(0))
        if len(lanes):
            self.operands, self.step = [], step
            self._collect(s, int(lanes[-1]), _stored_value(self.operations[site.op]), 0)

    def _collect(self, s: Strand, lane: int, value: SSAValue, depth: int) -> None:
        slot = self.slots.get(value)
        if slot is None or depth > DEPTH:
            return
        made = value.op if isinstance(value, OpResult) else None
        held = s.values[slot]
        if is_array(held):
            held = held[..., 0 if held.shape[-1] == 1 else lane]
        if held is not None and not isinstance(held, Ref):
            place = None if made is None else place_of(made)
            name = "argument" if made is None else made.name
            self.operands.append(Operand(depth, name, place.line if place else 0, held))
        if made is not None and not made.regions:
            for operand in made.operands:
                self._collect(s, lane, operand, depth + 1)
