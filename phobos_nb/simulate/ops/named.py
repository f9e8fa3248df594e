"""Which elements an access names, be they inside their tensor or past the end.

A condition or a count of elements is computed once more with the ends of tensors and `until` left out,
see `ir.bounds`: what remains are an author's conditions, the end of the tile, the slices of a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.vector import CreateMaskOp
from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.bounds import beyond, is_end, limit_of, sliced_loop, tile_end
from phobos_nb.ir.dialects.arith import CmpiOp, SelectOp
from phobos_nb.ir.dialects.nvgpu import DeviceAsyncCopyOp
from phobos_nb.ir.fold import constant_value
from phobos_nb.simulate.program import Decoder
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools, Ints, Value

Values = list[Value]
"""Of all slots of a strand."""


class End(Protocol):
    """Where what an access names ends on an axis."""

    def of(self, v: Values) -> Value:
        """The position, of the values of all slots."""
        ...


@dataclass(frozen=True)
class TileEnd:
    """The end of the tile: a slot's value and a number more."""

    slot: int
    more: int = 0

    def of(self, v: Values) -> Value:
        """The position."""
        return v[self.slot] + self.more


@dataclass(frozen=True)
class LoopEnd:
    """The end of the last slice of a loop from `first` to `end`; `step` is of `slices` slices."""

    first: int
    end: int
    step: int
    slices: int

    def of(self, v: Values) -> Value:
        """The position."""
        first, slice_ = v[self.first], v[self.step] // self.slices
        return first - (first - np.maximum(v[self.end], first)) // slice_ * slice_


@dataclass(frozen=True)
class Lanes:
    """The lanes that name an element under a condition.

    conditions: slots of the parts that say so. places: slots of places that lie before some ends.
    """

    conditions: tuple[int, ...]
    places: tuple[tuple[int, tuple[End, ...]], ...]

    def of(self, s: Strand) -> Bools:
        """Whether each lane does; lanes that are not active included."""
        v, found = s.values, np.ones(s.count, bool)
        for slot in self.conditions:
            found = found & np.asarray(v[slot], bool)
        for place, ends in self.places:
            for end in ends:
                found = found & np.asarray(v[place] < end.of(v))
        return found


@dataclass(frozen=True)
class Elements:
    """How many elements each lane's vector access names, of `most`.

    count: the slot of how many are moved. limit: the slot of the limit that it has. ends: those of what
    is named, instead of the limit.
    """

    most: int
    count: int
    lanes: Lanes | None
    limit: int
    ends: tuple[End, ...]

    def of(self, s: Strand) -> Ints:
        """The number per lane; lanes that are not active included."""
        v = s.values
        found = np.full(s.count, self.most)
        place = v[self.limit] - v[self.count]
        for end in self.ends:
            found = np.clip(end.of(v) - place, 0, found)
        return found if self.lanes is None else np.where(self.lanes.of(s), found, 0)


def lanes_of(d: Decoder, condition: SSAValue) -> tuple[Lanes, bool]:
    """The lanes of a condition; whether it asks for some end."""
    conditions: list[int] = []
    places: list[tuple[int, tuple[End, ...]]] = []
    asks = False
    for part in _parts(condition):
        compared = part.owner
        if isinstance(compared, CmpiOp) and is_end(compared):
            asks = True
            places.append((d.slot(compared.lhs), _ends(d, compared, compared.rhs)))
        else:
            conditions.append(d.slot(part))
    return Lanes(tuple(conditions), tuple(places)), asks


def _ends(d: Decoder, marked: Operation, limit: SSAValue) -> tuple[End, ...]:
    """Where what a marked operation names ends, beside the tensor and `until`."""
    found: list[End] = []
    more, end, around = beyond(marked), tile_end(limit), sliced_loop(marked)
    if more is not None:
        found.append(TileEnd(d.slot(limit), more))
    if end is not None:
        found.append(TileEnd(d.slot(end)))
    if around is not None:
        loop, slices = around
        found.append(LoopEnd(d.slot(loop.lb), d.slot(loop.ub), d.slot(loop.step), slices))
    return tuple(found)


def _parts(condition: SSAValue) -> Iterator[SSAValue]:
    if isinstance(condition.owner, arith.AndIOp):
        yield from _parts(condition.owner.lhs)
        yield from _parts(condition.owner.rhs)
    else:
        yield condition


def masked_elements(d: Decoder, mask: SSAValue, most: int) -> Elements | None:
    """Those of an access under a vector's mask; None where nothing is known of its end."""
    if not isinstance(mask.owner, CreateMaskOp) or not is_end(mask.owner):
        return None
    return _elements(d, mask.owner, mask.owner.mask_dim_sizes[0], most)


def copied_elements(d: Decoder, copy: DeviceAsyncCopyOp) -> Elements | None:
    """Those of an asynchronous copy; None where nothing is known of its end."""
    count, lanes = copy.src_elements, None
    if count is None or not is_end(copy):
        return None
    if isinstance(count.owner, SelectOp):
        lanes, _ = lanes_of(d, count.owner.operands[0])
        count = count.owner.operands[1]
    return _elements(d, copy, _without_clamps(count), copy.dst_elements.value.data, lanes)


def _elements(
    d: Decoder, marked: Operation, count: SSAValue, most: int, lanes: Lanes | None = None
) -> Elements:
    limit = limit_of(count)
    return Elements(most, d.slot(count), lanes, d.slot(limit), _ends(d, marked, limit))


def _without_clamps(count: SSAValue) -> SSAValue:
    """The count before it was brought between 0 and the width."""
    if isinstance(count.owner, arith.MinSIOp) and constant_value(count.owner.rhs) is not None:
        count = count.owner.lhs
    if isinstance(count.owner, arith.MaxSIOp) and constant_value(count.owner.rhs) == 0:
        count = count.owner.lhs
    return count
