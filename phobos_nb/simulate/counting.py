"""Counts of every access: elements moved and masked, wavefronts, lines and sectors."""

from __future__ import annotations

import numpy as np

from phobos_nb.simulate.lines import LINE, SECTOR
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.memory import Memory
from phobos_nb.simulate.patterns import PatternCosts
from phobos_nb.simulate.recorder import AccessCounts
from phobos_nb.simulate.site import Located, Site
from phobos_nb.simulate.strand import WARP, Strand
from phobos_nb.simulate.values import Bools, DTypeLike, Ints, Ref


def count_access(m: Machine, s: Strand, site: Site, ref: Ref, where: Located) -> None:
    """Add one execution of a memory operation to its counts.

    A chunk of a lane's vector moves as one access when all its elements are live, else one by one, as
    the generated code does it.
    """
    if not m.watch.banks or ref.memory.space == "private":
        return
    size = ref.dtype.itemsize
    space, name = ref.memory.space, ref.memory.name
    counts = m.recorder.access(site.op, site.kind, space, name, site.elements, size)
    moved = _moved(where.live, s.count, site.elements)
    record = counts.record
    if space == "shared" and not record.executions:
        record.byte = _first_byte(s, ref, where)
    record.executions += s.warps
    record.elements += moved
    record.bytes += moved * size
    if space == "global":
        record.masked += _named(s, site) - moved
    _count_chunks(counts, s, site, ref, where)


def _named(s: Strand, site: Site) -> int:
    """Elements that the active lanes name, be they inside the tensor or past the end."""
    if site.named is None:
        return (s.count if s.mask is None else int(s.mask.sum())) * site.elements
    named = site.named.of(s)
    return int(named.sum() if s.mask is None else named[s.mask].sum())


def mark_spread(m: Machine, site: Site, ref: Ref) -> None:
    """Mark an asynchronous copy whose warps do not read 32 neighbours: only its banks are counted.

    On an H200, ncu charges 4-byte copies from four rows of eight elements four wavefronts where their
    banks cost one, and copies of 32 neighbours what their banks cost, even across a 128-byte line.
    """
    if m.watch.banks:
        size, space, name = ref.dtype.itemsize, ref.memory.space, ref.memory.name
        m.recorder.access(site.op, site.kind, space, name, site.elements, size).record.spread = True


def _first_byte(s: Strand, ref: Ref, where: Located) -> int:
    """Where in its CTA's shared memory the first lane's access begins."""
    size = ref.dtype.itemsize
    first = int(np.broadcast_to(where.at, (s.count,))[0]) * size
    origin = np.asarray(ref.memory.origin(ref.dtype, s.cta[:1])).reshape(-1)
    return first - int(origin[0]) * size


def count_bulk(
    m: Machine,
    op: int,
    memory: Memory,
    dtype: DTypeLike,
    positions: Ints,
    copies: int,
    kind: str = "bulk_load",
) -> None:
    """Add one bulk copy to the counts of its tensor: the lines and sectors that its elements touch.

    What it does in shared memory no counter shows.
    """
    if not m.watch.banks or memory.space != "global":
        return
    size = dtype.itemsize
    counts = m.recorder.access(op, kind, "global", memory.name, len(positions), size)
    record = counts.record
    record.executions += 1
    record.requests += 1
    record.elements += len(positions) * copies
    record.bytes += len(positions) * copies * size
    bytes_ = memory.allocation.address + positions * size
    lines, sectors = (len(np.unique(bytes_ // unit)) for unit in (LINE, SECTOR))
    whole = len(positions) * size
    counts.add((lines, -(-whole // LINE), sectors, -(-whole // SECTOR)))


WAVEFRONT = 128
"""Bytes of a wavefront of an asynchronous product."""


def count_product(m: Machine, op: int, memory: Memory, size: int, elements: int, warps: int) -> None:
    """Add an asynchronous product of some warps that reads `elements` elements of shared memory.

    Its wavefronts are its bytes by 128, whatever the layout: so ncu counted 25 of them on an H200, all
    swizzles, both directions, 8 to 256 columns (tests/simulate/data/matrix_wavefronts_h200.jsonl).
    """
    if not m.watch.banks:
        return
    counts = m.recorder.access(op, "wgmma", "shared", memory.name, 0, size)
    record = counts.record
    record.executions += warps
    record.requests += warps
    record.elements += elements
    record.bytes += elements * size
    wavefronts = -(-elements * size // WAVEFRONT)
    counts.add((wavefronts, wavefronts))


def _moved(live: Bools | None, count: int, elements: int) -> int:
    """The number of live elements."""
    if live is None:
        return count * elements
    if live.ndim == 1:
        return int(live.sum()) * elements
    return int(live.sum()) * (count // live.shape[-1])


def _count_chunks(counts: AccessCounts, s: Strand, site: Site, ref: Ref, where: Located) -> None:
    """Count the accesses of the hardware, one after the other."""
    chunk = site.chunk(ref.dtype.itemsize) if not site.kind.startswith("matrix") else site.elements
    offsets = [0] if where.grid is None else where.grid.reshape(-1).tolist()
    live = where.live
    if live is None or live.ndim == 1:
        for offset in offsets[::chunk]:
            _add(counts, s, site, ref, where, offset, live, chunk)
        return
    parts = np.broadcast_to(live, (*site.shape, s.count)).reshape(-1, chunk, s.count)
    for starts, part in zip(range(0, len(offsets), chunk), parts, strict=True):
        whole: Bools = np.asarray(part.all(0))
        _add(counts, s, site, ref, where, offsets[starts], whole, chunk)
        for offset, lanes in zip(offsets[starts : starts + chunk], part & ~whole, strict=True):
            _add(counts, s, site, ref, where, offset, lanes, 1)


def _add(
    counts: AccessCounts,
    s: Strand,
    site: Site,
    ref: Ref,
    where: Located,
    offset: int,
    live: Bools | None,
    elements: int,
) -> None:
    """Count an access of `elements` elements, `offset` behind the first, by the live lanes."""
    if live is not None and not live.any():
        return
    counts.record.requests += s.warps if live is None else int(live.reshape(-1, WARP).any(1).sum())
    size, shared = ref.dtype.itemsize, ref.memory.space == "shared"
    width = elements * size
    costs = counts.costs.get(width)
    if costs is None:
        costs = counts.costs[width] = PatternCosts(site.kind, width, shared=shared, copied=site.copied)
    steady = shared and live is None and isinstance(where.shift, int)
    shift = (where.shift + offset) * size if steady else 0
    totals = costs.remembered(where.base, shift) if steady else None
    if totals is None:
        at = np.ascontiguousarray(np.broadcast_to(where.at, (s.count,)))
        active = None if live is None else live.reshape(-1, WARP)
        totals = costs.total((at + offset).reshape(-1, WARP) * size, active).tolist()
        if steady:
            costs.remember(where.base, shift, totals)
    counts.add(totals)
