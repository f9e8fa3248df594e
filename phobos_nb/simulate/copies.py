"""Asynchronous copies to shared memory (cp.async): the bytes appear at the wait, not before.

Data is read when the copy is issued. Groups are per thread, so under a mask only active lanes commit
and wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phobos_nb.simulate.access import units_of
from phobos_nb.simulate.counting import count_access
from phobos_nb.simulate.findings import report_conflict
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.site import Located, Site
from phobos_nb.simulate.strand import Copy, Strand
from phobos_nb.simulate.trace import trace_access
from phobos_nb.simulate.values import Bools, Ints, Ref, is_array


def issue(m: Machine, s: Strand, site: Site, ref: Ref, where: Located, data: Any) -> None:
    """Start a copy of `data` [elements, lanes] to the addresses of an access."""
    shape = (*site.shape, s.count)
    positions = np.broadcast_to(where.positions(), shape)
    if m.shared_shadow is not None:
        units, live = units_of(s, site, ref, where, m.shared_shadow.unit)
        for conflict in m.shared_shadow.write(s, units, live, site.op, pending=True)[0]:
            report_conflict(m, s, site.op, ref, conflict, units, m.shared_shadow.unit)
    count_access(m, s, site, ref, where)
    trace_access(m, s, site, ref, where)
    values = np.broadcast_to(data, shape)
    lanes = None
    if where.live is not None:
        lanes = np.flatnonzero(np.broadcast_to(where.live, shape).any(0))
        if not len(lanes):
            return
        positions, values = positions[:, lanes], values[:, lanes]
    s.copies.append(Copy(site.op, ref.dtype, positions, values, lanes))


def commit(s: Strand) -> None:
    """Close the group of the copies issued so far: everything in flight gets one group older."""
    for copy in s.copies:
        if s.mask is None:
            copy.age = copy.age + 1
        else:
            mine = s.mask if copy.lanes is None else s.mask[copy.lanes]
            copy.age = copy.age + np.asarray(mine, np.int64)


def wait(m: Machine, s: Strand, groups: int) -> None:
    """Land every copy that is in none of the latest `groups` groups of its lane."""
    left: list[Copy] = []
    for copy in s.copies:
        done = copy.age > groups
        if s.mask is not None:
            done = done & (s.mask if copy.lanes is None else s.mask[copy.lanes])
        if is_array(done):
            rest = _land_some(m, s, copy, done)
            if rest is not None:
                left.append(rest)
        elif done:
            _land(m, s, copy)
        else:
            left.append(copy)
    s.copies = left


def _land_some(m: Machine, s: Strand, copy: Copy, done: Bools) -> Copy | None:
    """Land the part of a copy of some lanes; the part still in flight."""
    if done.all():
        _land(m, s, copy)
        return None
    lanes = np.arange(s.count) if copy.lanes is None else copy.lanes
    if done.any():
        _land(m, s, _part(copy, lanes, done))
    return _part(copy, lanes, ~done)


def _part(copy: Copy, lanes: Ints, chosen: Bools) -> Copy:
    age = copy.age if isinstance(copy.age, int) else copy.age[chosen]
    return Copy(copy.op, copy.dtype, copy.positions[:, chosen], copy.data[:, chosen], lanes[chosen], age)


def _land(m: Machine, s: Strand, copy: Copy) -> None:
    """Put the bytes where they belong; for the race detector the waiting lane wrote them now."""
    m.shared.allocation.typed(copy.dtype)[copy.positions] = copy.data
    shadow = m.shared_shadow
    if shadow is None:
        return
    size, unit = copy.dtype.itemsize, shadow.unit
    each = max(1, size // unit)
    spread = copy.positions[:, None] * size // unit + np.arange(each)[:, None]
    units = spread.reshape(-1, copy.positions.shape[1])
    shadow.complete(s, units, copy.lanes, copy.op)
