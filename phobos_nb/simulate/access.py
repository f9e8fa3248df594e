"""Loads and stores: addresses, bounds, alignment, and telling the watchers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from phobos_nb.simulate.clusters import PeerMemory, of_peers
from phobos_nb.simulate.counting import count_access
from phobos_nb.simulate.findings import (
    first_marked,
    report_conflict,
    report_lanes,
    report_misaligned,
    report_outside,
    report_unwritten,
)
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.memory import POISON, PrivateMemory
from phobos_nb.simulate.shadow import under_way
from phobos_nb.simulate.site import Located, Site
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.trace import trace_access
from phobos_nb.simulate.values import Array, Bools, DTypeLike, Ints, Ref, Value, is_array, span

WIDE: dict[int, np.dtype[Any]] = {8: np.dtype(np.uint64), 16: np.dtype(np.complex128)}
"""Types that NumPy gathers as one item, by bytes."""


def locate(
    m: Machine, s: Strand, site: Site, ref: Ref, flat: Value, grid: Ints | None, live: Bools | None
) -> Located:
    """Find the addresses of an access and leave out, with a fault, what lies outside the memory."""
    low, high = ref.bounds
    first, last = (0, 0) if grid is None else span(grid)
    if is_array(flat):
        start, stop = span(ref.offset + flat)
    else:
        start, stop = ref.range[0] + flat, ref.range[1] + flat
    base = ref.absolute(s.cta)
    at = base + flat
    if start + first < low or stop + last > high or ref.memory.holes:
        live = _bounded(m, s, site, ref, ref.offset + flat, grid, live)
    if site.alignment > 1:
        bits = int(np.bitwise_or.reduce(at)) if is_array(flat) else ref.low_bits(s.cta) | flat
        if bits & (site.alignment - 1):
            live = _aligned(m, s, site, ref, at, live)
    return Located(at, grid, live, base, flat)


def _bounded(
    m: Machine, s: Strand, site: Site, ref: Ref, offset: Value, grid: Ints | None, live: Bools | None
) -> Bools | None:
    """The part of an access that lies inside its memory; the rest is reported."""
    elements: Any = np.broadcast_to(offset, (s.count,))
    elements = elements if grid is None else elements + grid
    low, high = ref.bounds
    inside = (elements >= low) & (elements <= high)
    if ref.memory.holes:
        inside &= ref.memory.owns(np.clip(elements, low, high))
    if isinstance(ref.memory, PeerMemory):
        inside &= of_peers(m, s, site.op, ref.memory, elements * ref.dtype.itemsize, live)
    outside = ~inside if live is None else ~inside & live
    if not outside.any():
        return live
    index, lane = first_marked(outside)
    report_outside(m, s, site, ref, outside, lane, int(elements[(*index, lane)]))
    return inside if live is None else inside & live


def _aligned(m: Machine, s: Strand, site: Site, ref: Ref, at: Value, live: Bools | None) -> Bools | None:
    """The lanes whose address has the promised alignment; the others are reported."""
    good = np.broadcast_to(np.asarray(at) & (site.alignment - 1), (s.count,)) == 0
    lanes = live if live is None or live.ndim == 1 else live.any(tuple(range(live.ndim - 1)))
    wrong = ~good if lanes is None else ~good & lanes
    if not wrong.any():
        return live
    report_misaligned(m, s, site, ref, wrong, int(wrong.argmax()), at)
    return good if live is None else good & live


def load(m: Machine, s: Strand, site: Site, ref: Ref, where: Located, fill: Value = None) -> Value:
    """The elements read: a scalar per lane or [..., lanes]; `fill` where nothing is read."""
    typed = ref.memory.allocation.typed(ref.dtype)
    watch_read(m, s, site, ref, where)
    if where.live is None:
        return _gather(typed, site, where, s.count)
    shape = (*site.shape, s.count)
    start = poison(shape, ref.dtype) if fill is None else np.broadcast_to(fill, shape)
    out = np.array(start, ref.dtype)
    live = np.broadcast_to(where.live, shape)
    positions = np.broadcast_to(where.positions(), shape)
    out[live] = typed[positions[live]]
    return out


def _gather(typed: Array, site: Site, where: Located, count: int) -> Value:
    """Read without a mask: the same address once, aligned vectors as single wide items."""
    at, grid = where.at, where.grid
    if not is_array(at):
        return python(typed[at]) if grid is None else typed.take(at + grid)
    if grid is None:
        return typed.take(at)
    size = typed.itemsize * site.alignment
    if len(site.shape) == 1 and site.shape[0] == site.alignment and size in WIDE:
        items = typed.view(WIDE[size]).take(at >> (site.alignment.bit_length() - 1))
        return items.view(typed.dtype).reshape(count, site.alignment).T
    return typed.take(at + grid)


def store(m: Machine, s: Strand, site: Site, ref: Ref, where: Located, value: Value) -> None:
    """Write a scalar per lane or [..., lanes]; later lanes win where several write one element."""
    typed = ref.memory.allocation.typed(ref.dtype)
    shape = (*site.shape, s.count)
    positions = np.broadcast_to(where.positions(), shape)
    values = np.broadcast_to(np.asarray(value, ref.dtype), shape)
    if m.probe is not None:
        m.probe.stored(s, site, ref, where, m.recorder.steps)
    shadow = m.shadow_of(ref.memory)
    before = None if shadow is None else typed.take(positions, mode="clip")
    if where.live is None:
        typed[positions] = values
    else:
        live = np.broadcast_to(where.live, shape)
        typed[positions[live]] = values[live]
    changed = None
    if before is not None:
        after = typed.take(positions, mode="clip")
        changed = Changes(_bits(before) != _bits(values), _bits(after) != _bits(values))
    watch_write(m, s, site, ref, where, changed=changed)


class Changes(NamedTuple):
    """The elements of a store, [..., lanes], that were not so before, and that did not stay so."""

    before: Bools
    after: Bools


def watch_write(
    m: Machine,
    s: Strand,
    site: Site,
    ref: Ref,
    where: Located,
    *,
    changed: Changes | None = None,
    atomic: bool = False,
) -> None:
    """Tell the race detector and the counters of a store or atomic."""
    race_write(m, s, site, ref, where, changed=changed, atomic=atomic)
    count_access(m, s, site, ref, where)
    trace_access(m, s, site, ref, where)


def race_write(
    m: Machine,
    s: Strand,
    site: Site,
    ref: Ref,
    where: Located,
    *,
    changed: Changes | None = None,
    atomic: bool = False,
) -> None:
    """Tell the race detector alone of a store or atomic.

    Two writes of one value to one place are no race: `changed` says where the values differ. What is
    under way has no value yet.
    """
    shadow = m.shadow_of(ref.memory)
    if isinstance(ref.memory, PrivateMemory):
        _mark_local(s, site, ref.memory, where)
    if shadow is None:
        return
    units, live = units_of(s, site, ref, where, shadow.unit)
    conflicts, unwritten = shadow.write(s, units, live, site.op, atomic=atomic)
    if atomic:
        _tell_unwritten(m, s, site, ref, unwritten, units, shadow.unit)
    for conflict in conflicts:
        if conflict.kind == "write after write" and changed is not None:
            differs = changed.after if conflict.together else changed.before
            conflict = conflict.only(_per_unit(differs, len(units)) | under_way(conflict.records))
        report_conflict(m, s, site.op, ref, conflict, units, shadow.unit)


def watch_read(m: Machine, s: Strand, site: Site, ref: Ref, where: Located) -> None:
    """Tell the race detector and the counters of a load."""
    race_read(m, s, site, ref, where)
    count_access(m, s, site, ref, where)
    trace_access(m, s, site, ref, where)


def race_read(m: Machine, s: Strand, site: Site, ref: Ref, where: Located) -> None:
    """Tell the race detector alone of a load."""
    shadow = m.shadow_of(ref.memory)
    if isinstance(ref.memory, PrivateMemory):
        _check_local(m, s, site, ref.memory, where)
    if shadow is None:
        return
    units, live = units_of(s, site, ref, where, shadow.unit)
    conflict, unwritten = shadow.read(s, units, live, site.op)
    if conflict is not None:
        report_conflict(m, s, site.op, ref, conflict, units, shadow.unit)
    _tell_unwritten(m, s, site, ref, unwritten, units, shadow.unit)


def _mark_local(s: Strand, site: Site, memory: PrivateMemory, where: Located) -> None:
    """Note what a store has written of the threads' own arrays."""
    shape = (*site.shape, s.count)
    positions = np.broadcast_to(where.positions(), shape)
    if where.live is not None:
        positions = positions[np.broadcast_to(where.live, shape)]
    memory.written[positions] = True


def _check_local(m: Machine, s: Strand, site: Site, memory: PrivateMemory, where: Located) -> None:
    """Report what a load reads of the threads' own arrays that nothing has written."""
    shape = (*site.shape, s.count)
    bad = ~memory.written.take(np.broadcast_to(where.positions(), shape), mode="clip")
    if where.live is not None:
        bad &= where.live
    if bad.any():
        text = f"reads {memory.name}, of which that element was never written"
        lane = first_marked(bad)[1]
        report_lanes(m, s, "uninitialised", site.op, text, bad, lane, memory.name)


def _tell_unwritten(
    m: Machine, s: Strand, site: Site, ref: Ref, unwritten: Bools | None, units: Ints, unit: int
) -> None:
    """Report what nothing has written, and remember whose values that are."""
    if unwritten is None:
        if m.unwritten.threads:
            m.unwritten.forget(s, site.op)
        return
    said = report_unwritten(m, s, site.op, ref, unwritten, units, unit)
    m.unwritten.note(s, site.op, unwritten, said)


def units_of(s: Strand, site: Site, ref: Ref, where: Located, unit: int) -> tuple[Ints, Bools | None]:
    """The shadow units of an access, [units, lanes], and which of them are live."""
    positions = np.broadcast_to(where.positions(), (*site.shape, s.count)).reshape(-1, s.count)
    live = where.live
    if live is not None:
        live = np.broadcast_to(live, (*site.shape, s.count)).reshape(-1, s.count)
        positions = np.where(live, positions, 0)
    each = ref.dtype.itemsize // unit
    if each == 1:
        return positions, live
    if each == 0:
        return positions * ref.dtype.itemsize // unit, live
    units = (positions[:, None] * each + np.arange(each)[:, None]).reshape(-1, s.count)
    return units, None if live is None else np.repeat(live, each, 0)


def _bits(values: Array) -> Array:
    """The values as unsigned integers, so that NaN compares."""
    return values.view(f"u{values.dtype.itemsize}")


def _per_unit(changed: Bools, units: int) -> Bools:
    """Whether each of an access's units changed, from the same per element."""
    flat = changed.reshape(-1, changed.shape[-1])
    return np.repeat(flat, units // len(flat), 0)


def poison(shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """Values whose every byte is the poison byte."""
    return np.full((*shape, dtype.itemsize), POISON, np.uint8).view(dtype).reshape(shape)


def python(value: Any) -> Value:
    """A uniform scalar in the form that values take: Python's for integers and bools."""
    return value.item() if value.dtype.kind in "iub" else value
