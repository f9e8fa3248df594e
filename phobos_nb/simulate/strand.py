"""A strand: lanes of a chunk of CTAs that share one position in the program.

A launch begins with one strand per chunk that holds every lane. A strand splits, always between
warps, where warps go different ways through code that blocks.
Divergence that needs no position of its own is a mask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from phobos_nb.simulate.values import Bools, DTypeLike, Ints, Value, take

WARP = 32


class Frame(Protocol):
    """What an open structured operation keeps per strand."""

    def select(self, lanes: Ints, count: int) -> Frame:
        """The part that belongs to some of the strand's `count` lanes."""
        ...


@dataclass
class Copy:
    """An asynchronous copy in flight: `age` counts the commits since it was issued.

    0 is not yet committed. `lanes` are the lanes that copy, `None` for all; `positions` and `data` are
    [elements, lanes of the copy]; `age` is an int or one per lane of the copy.
    """

    op: int
    dtype: DTypeLike
    positions: Ints
    data: Any
    lanes: Ints | None
    age: Value = 0


class Strand:
    """Lanes in step; the arrays describe each lane: its thread number, CTA and warp."""

    def __init__(self, lanes: Ints, thread: Ints, cta: Ints, gid: Ints, slots: int) -> None:
        self.lanes = lanes
        self.thread = thread
        self.cta = cta
        self.gid = gid
        self.warp = thread // WARP
        self.count = len(lanes)
        self.values: list[Value] = [None] * slots
        self.frames: list[Frame | None] = []
        self.copies: list[Copy] = []
        self.pc = 0
        self.waiting: Any = None
        self.mask: Bools | None = None
        self.warps = self.count // WARP
        self._active: Ints | None = None
        self._leaders: Ints | None = None
        self._ctas: Ints | None = None

    def set_mask(self, mask: Bools | None) -> None:
        """Make only some lanes active; `None` is all of them."""
        if mask is not None and mask.all():
            mask = None
        self.mask = mask
        self._active = self._leaders = None
        self._ctas = None
        self.warps = self.count // WARP if mask is None else int(mask.reshape(-1, WARP).any(1).sum())

    @property
    def active(self) -> Ints:
        """Positions of the active lanes within the strand."""
        if self._active is None:
            self._active = np.arange(self.count) if self.mask is None else np.flatnonzero(self.mask)
        return self._active

    @property
    def leaders(self) -> Ints:
        """Positions of the first active lane of every warp that has one; a strand holds whole warps."""
        found = self._leaders
        if found is None:
            rows = (
                np.ones((self.warps, WARP), np.bool_)
                if self.mask is None
                else self.mask.reshape(-1, WARP)
            )
            lanes = np.arange(len(rows)) * WARP + rows.argmax(1)
            found = self._leaders = lanes[rows.any(1)]
        return found

    @property
    def active_ctas(self) -> Ints:
        """The CTAs, by their number in the chunk, that have an active lane here."""
        if self._ctas is None:
            self._ctas = np.unique(self.cta if self.mask is None else self.cta[self.mask])
        return self._ctas

    def part(self, keep: Ints) -> Strand:
        """A strand of some of these lanes at the same position, with its share of every value."""
        part = Strand(
            self.lanes[keep], self.thread[keep], self.cta[keep], self.gid[keep], len(self.values)
        )
        part.values = [take(v, keep, self.count) for v in self.values]
        part.frames = [None if f is None else f.select(keep, self.count) for f in self.frames]
        part.copies = [c for c in (_copy_part(c, keep) for c in self.copies) if c is not None]
        part.pc = self.pc
        part.waiting = self.waiting
        part.set_mask(None if self.mask is None else self.mask[keep])
        return part

    def split(self, chosen: Bools) -> tuple[Strand, Strand]:
        """Two strands: the chosen lanes and the others."""
        return self.part(np.flatnonzero(chosen)), self.part(np.flatnonzero(~chosen))


def _copy_part(copy: Copy, keep: Ints) -> Copy | None:
    if copy.lanes is None:
        chosen, lanes = keep, None
    else:
        _, chosen, lanes = np.intersect1d(copy.lanes, keep, return_indices=True)
        if not len(chosen):
            return None
    age = copy.age if isinstance(copy.age, int) else copy.age[chosen]
    return Copy(copy.op, copy.dtype, copy.positions[..., chosen], copy.data[..., chosen], lanes, age)
