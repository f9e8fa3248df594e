"""The extents of shared and local arrays: every index of an access against its own axis.

Behind the end of a row lies the next row, behind an array another: memory that exists, and is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from phobos_nb.simulate import advice
from phobos_nb.simulate.access import locate
from phobos_nb.simulate.findings import VERBS, first_marked, report_lanes
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.ops.addresses import flat_index
from phobos_nb.simulate.ops.common import static_shape
from phobos_nb.simulate.program import Decoder
from phobos_nb.simulate.shared_arrays import left_array
from phobos_nb.simulate.site import Located, Site
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools, Ints, Ref, Value, is_array, span


class Axis(NamedTuple):
    """One axis of an access: the slot of its index, its extent, and how many elements are taken."""

    slot: int
    extent: int
    taken: int


class Indices(NamedTuple):
    """The slots of an access's indices; the axes that they are checked against, none if not known."""

    slots: list[int]
    axes: tuple[Axis, ...]


def indices_of(
    d: Decoder, memory: SSAValue, indices: Sequence[SSAValue], taken: tuple[int, ...] = ()
) -> Indices:
    """The indices of an access that takes so many elements along the last axes.

    Only those of static shapes are checked: shared and local arrays.
    """
    shape, slots = static_shape(memory.type), d.slots(indices)
    if DYNAMIC_INDEX in shape or len(taken) > len(shape):
        return Indices(slots, ())
    counts = (1,) * (len(shape) - len(taken)) + taken
    return Indices(slots, tuple(map(Axis, slots, shape, counts)))


def reach(
    m: Machine, s: Strand, site: Site, ref: Ref, indices: Indices, grid: Ints | None, live: Bools | None
) -> Located:
    """Find the addresses of an access; what lies outside its array is reported and left out."""
    flat = flat_index(ref, s.values, indices.slots)
    for k, axis in enumerate(indices.axes):
        low, high = span(s.values[axis.slot])
        first, last = ref.corner_span(k)
        if low + first < 0 or high + last + axis.taken > axis.extent:
            live = _inside(m, s, site, ref, flat, indices.axes, live)
            break
    return locate(m, s, site, ref, flat, grid, live)


def _inside(
    m: Machine,
    s: Strand,
    site: Site,
    ref: Ref,
    flat: Value,
    axes: Sequence[Axis],
    live: Bools | None,
) -> Bools | None:
    """The part of an access that lies inside its array; the rest is reported."""
    shape = (*site.shape, s.count)
    indices = [_positions(s, ref, k, axis, len(site.shape), len(axes)) for k, axis in enumerate(axes)]
    bad: Bools = np.zeros(shape, np.bool_)
    for index, axis in zip(indices, axes, strict=True):
        bad |= (index < 0) | (index >= axis.extent)
    if live is not None:
        bad &= live
    if not bad.any():
        return live
    at, lane = first_marked(bad)
    index = tuple(int(np.broadcast_to(i, shape)[(*at, lane)]) for i in indices)
    start = int(np.broadcast_to(ref.offset + flat, (s.count,))[lane])
    place = left_array(ref.name, tuple(a.extent for a in axes), index)
    came = s.cta == s.cta[lane] if live is None else live & (s.cta == s.cta[lane])
    remedy = "" if site.shape else _remedy(s, ref, axes, [i[came] for i in indices], index)
    byte = (start + sum(at)) * ref.dtype.itemsize % ref.memory.allocation.stride
    report_lanes(
        m,
        s,
        "out_of_bounds",
        site.op,
        f"{VERBS[site.kind]} {place}",
        bad,
        lane,
        ref.memory.name,
        (byte,),
        index,
        ref.array,
        remedy=remedy,
    )
    return ~bad if live is None else live & ~bad


def _remedy(
    s: Strand, ref: Ref, axes: Sequence[Axis], came: Sequence[Ints], found: tuple[int, ...]
) -> str:
    """What mends an index that all lanes that `came` have on the first axis that is left; else empty."""
    k = next(k for k, axis in enumerate(axes) if not 0 <= found[k] < axis.extent)
    one = not is_array(s.values[axes[k].slot]) and not is_array(ref.corner_at(k))
    if one or (len(came[k]) > 1 and (came[k] == found[k]).all()):
        return advice.one_index(past=found[k] >= axes[k].extent)
    return ""


def _positions(s: Strand, ref: Ref, k: int, axis: Axis, of_vector: int, rank: int) -> Any:
    """The index on one axis of every element, as it broadcasts to [..., lanes]."""
    index: Any = np.broadcast_to(s.values[axis.slot], (s.count,)) + ref.corner_at(k)
    place = k - (rank - of_vector)
    if place < 0:
        return index
    ramp = np.arange(axis.taken).reshape(*[1] * place, -1, *[1] * (of_vector - place))
    return index + ramp
