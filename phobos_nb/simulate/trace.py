"""The events of one CTA, in the order in which its strands ran."""

from __future__ import annotations

import numpy as np

from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.records import Event
from phobos_nb.simulate.site import Located, Site
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools, Ints, Ref

ACCESSES = 1
"""Trace level: memory accesses, barriers and waits."""
OPERATIONS = 2
"""Trace level: every operation as well."""
TRACED = 0
"""The CTA that is traced, by its number in the chunk; only the first chunk is."""


def traced_lanes(m: Machine, s: Strand) -> Ints:
    """The active lanes of a strand that belong to the traced CTA."""
    if not m.traced:
        return np.zeros(0, np.int64)
    lanes = s.active
    return lanes[s.cta[lanes] == TRACED]


def trace_access(m: Machine, s: Strand, site: Site, ref: Ref, where: Located) -> None:
    """Note a memory access with the byte address of each thread, counted from the memory's start."""
    if m.watch.trace < ACCESSES and m.probe is None:
        return
    lanes = traced_lanes(m, s)
    if where.live is not None:
        rows = np.broadcast_to(where.live, (*site.shape, s.count)).reshape(-1, s.count)
        live: Bools = np.asarray(rows.any(0))
        lanes = lanes[live[lanes]]
    if not len(lanes):
        return
    m.recorder.steps += 1
    if m.watch.trace < ACCESSES:
        return
    origin = np.broadcast_to(ref.memory.origin(ref.dtype, s.cta), (s.count,))
    addresses = (np.broadcast_to(where.at, (s.count,)) - origin)[lanes] * ref.dtype.itemsize
    m.recorder.events.append(
        Event(
            m.recorder.places[site.op],
            m.cta_of(s, int(lanes[0])),
            len(lanes),
            site.kind,
            ref.memory.name,
            site.elements * ref.dtype.itemsize,
            tuple(s.thread[lanes].tolist()),
            tuple(addresses.tolist()),
            _elements(s, site, ref, where, lanes) if ref.memory.space == "global" else None,
            ref.dtype.itemsize,
        )
    )


def _elements(s: Strand, site: Site, ref: Ref, where: Located, lanes: Ints) -> Ints:
    """Where the live elements of some lanes begin, in bytes, as the cache sees them."""
    shape = (*site.shape, s.count)
    positions = np.broadcast_to(where.positions(), shape).reshape(-1, s.count)[:, lanes]
    if where.live is not None:
        positions = positions[np.broadcast_to(where.live, shape).reshape(-1, s.count)[:, lanes]]
    return positions.reshape(-1).astype(np.int64) * ref.dtype.itemsize + ref.memory.allocation.address


def trace_operation(m: Machine, s: Strand, op: int, kind: str, level: int) -> None:
    """Note that an operation ran, at trace level `level` and above."""
    if m.watch.trace < level and m.probe is None:
        return
    lanes = traced_lanes(m, s)
    if not len(lanes):
        return
    m.recorder.steps += level == ACCESSES
    if m.watch.trace >= level:
        place, cta = m.recorder.places[op], m.cta_of(s, int(lanes[0]))
        m.recorder.events.append(Event(place, cta, len(lanes), kind))
