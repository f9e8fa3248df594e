"""Counts of every access: elements moved and masked, wavefronts, lines and sectors."""

from __future__ import annotations

import math

import numpy as np

from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.patterns import PatternCosts
from phobos_nb.simulate.recorder import AccessCounts
from phobos_nb.simulate.site import Located, Site
from phobos_nb.simulate.strand import WARP, Strand
from phobos_nb.simulate.values import Bools, Ints, Ref, Value


def count_access(m: Machine, s: Strand, site: Site, ref: Ref, where: Located) -> None:
    """Add one execution of a memory operation to its counts.

    A vector moves as one access where all its elements are live; a lane with some masked elements
    moves them one by one, as the generated code does.
    """
    if not m.watch.banks or ref.memory.space == "private":
        return
    elements = math.prod(site.shape)
    size = ref.dtype.itemsize
    counts = m.recorder.access(site.op, site.kind, ref.memory.space, ref.memory.name, elements, size)
    record = counts.record
    record.executions += s.warps
    live, moved = _lanes(where.live, s.count, elements)
    record.elements += moved
    record.bytes += moved * size
    record.masked += (s.count if s.mask is None else int(s.mask.sum())) * elements - moved
    at = np.broadcast_to(where.at, (s.count,))
    if live is None or live.any():
        width = elements if _dense(where.grid, site.shape) else 1
        _add(counts, site, ref, at, live, width)
        if width != elements and where.grid is not None:
            for offset in where.grid.reshape(-1)[1:].tolist():
                _add(counts, site, ref, at + offset, live, 1)
    if where.live is not None and where.live.ndim > 1 and where.grid is not None:
        partial = where.live & ~live if live is not None else where.live
        flat = np.broadcast_to(partial, (*site.shape, s.count)).reshape(-1, s.count)
        for offset, lanes in zip(where.grid.reshape(-1).tolist(), flat, strict=True):
            if lanes.any():
                _add(counts, site, ref, at + offset, lanes, 1)


def _lanes(live: Bools | None, count: int, elements: int) -> tuple[Bools | None, int]:
    """The lanes whose whole access is live, and the number of live elements."""
    if live is None:
        return None, count * elements
    if live.ndim == 1:
        return live, int(live.sum()) * elements
    axes = tuple(range(live.ndim - 1))
    return np.broadcast_to(live.all(axes), (count,)), int(live.sum()) * (count // live.shape[-1])


def _dense(grid: Ints | None, shape: tuple[int, ...]) -> bool:
    """Whether a lane's elements lie side by side."""
    if grid is None:
        return True
    count = math.prod(shape)
    return bool((grid.reshape(-1) == np.arange(count)).all())


def _add(
    counts: AccessCounts, site: Site, ref: Ref, at: Value, live: Bools | None, elements: int
) -> None:
    """Count accesses of `elements` elements at positions `at`, 16 bytes at a time."""
    size = ref.dtype.itemsize
    width = min(elements * size, 16)
    addresses = np.ascontiguousarray(at).reshape(-1, WARP) * size
    active = None if live is None else live.reshape(-1, WARP)
    costs = counts.costs.get(width)
    if costs is None:
        shared = ref.memory.space == "shared"
        costs = counts.costs[width] = PatternCosts(site.kind, width, shared=shared)
    for step in range(0, elements * size, width):
        counts.add(costs.total(addresses + step, active).tolist())
