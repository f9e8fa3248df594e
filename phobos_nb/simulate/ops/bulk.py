"""Rows of bulk copies: `nvgpu.tma.*`, `phobos.bulk.*`, and views of peers' shared memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.dialects.bulk import BulkLoadOp, BulkPrefetchOp, BulkSendOp, BulkStoreOp, PeerOp
from phobos_nb.ir.dialects.nvgpu import TmaAsyncLoadOp, TmaAsyncStoreOp
from phobos_nb.simulate.box_rules import PIECE, box_problem
from phobos_nb.simulate.bulk_copies import Elements, start_load, start_store
from phobos_nb.simulate.clusters import PeerMemory, check_targets
from phobos_nb.simulate.counting import count_bulk
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.mbarriers import MBarriers, usable
from phobos_nb.simulate.memory import Memory
from phobos_nb.simulate.ops.addresses import flat_index
from phobos_nb.simulate.ops.common import nothing
from phobos_nb.simulate.ops.mbarrier import where_true
from phobos_nb.simulate.program import Decoder, Row, Step
from phobos_nb.simulate.proxies import Issuer, issuer
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.tensor_boxes import Box, TensorMapValue, box_at, landing
from phobos_nb.simulate.trace import ACCESSES, trace_operation
from phobos_nb.simulate.values import Ints, Ref, Value, is_array

BOX = 128
"""Bytes that the address of a box in shared memory is a multiple of: an H200 ends with others."""


def at_lane(value: Value, lane: int) -> int:
    """An integer value in one lane."""
    return int(value[lane]) if is_array(value) else int(value)


def _each(d: Decoder, predicate: SSAValue | None, start: Callable[[Machine, Strand, int], None]) -> Step:
    """Every active lane, where the predicate holds, starts a copy of its own."""
    only, index = where_true(d, predicate), d.op

    def step(m: Machine, s: Strand) -> None:
        def act() -> None:
            for lane in s.active.tolist():
                start(m, s, lane)

        only(s, act)
        trace_operation(m, s, index, "async", ACCESSES)

    return step


def _uses_proxy(d: Decoder, *, stores: bool = False) -> None:
    d.program.needs_clocks = True
    d.program.stores = d.program.stores or stores


def _position(s: Strand, ref: Ref, lane: int, flat: Value) -> tuple[int, int]:
    """Where a lane's element lies: in the memory's typed view, and in its CTA's or tensor's own part."""
    base = ref.absolute(s.cta)
    at = at_lane(base, lane) + at_lane(flat, lane)
    origin = ref.memory.origin(ref.dtype, s.cta[lane : lane + 1])
    return at, at - int(np.asarray(origin).reshape(-1)[0])


def _corner(v: list[Value], coordinates: list[int], lane: int) -> tuple[int, ...]:
    return tuple(at_lane(v[c], lane) for c in reversed(coordinates))


def _reaches(m: Machine, s: Strand, lane: int, mask: Value, op: int) -> list[int]:
    """The CTAs of the chunk that a copy goes to: its own, or those of the cluster that a mask names."""
    own = int(s.cta[lane])
    if mask is None:
        return [own]
    size = m.shape.agents.cluster
    bits = at_lane(mask, lane) & 0xFFFF
    ranks = [r for r in range(16) if bits >> r & 1]
    bad = [r for r in ranks if r >= size]
    if bad or not ranks:
        text = f"copies to CTAs {ranks} of a cluster of {size}"
        m.recorder.fault("cluster", op, text, m.cta_of(s, lane), int(s.thread[lane]))
    there = np.array([own // size * size + r for r in ranks if r < size], np.int64)
    if len(there):
        check_targets(m, s, np.full(len(there), lane), there, op)
    return there.tolist()


def _fault(
    m: Machine,
    s: Strand,
    lane: int,
    op: int,
    kind: Any,
    text: str,
    name: str,
    element: tuple[int, ...] = (),
) -> None:
    thread = int(s.thread[lane])
    m.recorder.fault(kind, op, text, m.cta_of(s, lane), thread, tensor=name, element=element)


def _to_barriers(
    m: Machine,
    who: Issuer,
    source: Elements,
    places: list[tuple[int, Elements]],
    group: MBarriers,
    index: int,
) -> None:
    """Start a load if every barrier that is to count it can."""
    if all(usable(m, who, group, cta, index) for cta, _ in places):
        start_load(m, who, source, places, group, index)


def _tensor_load(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, TmaAsyncLoadOp)
    _uses_proxy(d)
    d.touch(op.dst.type)
    dst, map_, coordinates = d.slot(op.dst), d.slot(op.descriptor), d.slots(op.coordinates)
    group, number = d.slot(op.barriers), d.slot(op.index)
    mask = None if op.multicast_mask is None else d.slot(op.multicast_mask)
    index = d.op

    def start(m: Machine, s: Strand, lane: int) -> None:
        v = s.values
        to: Ref = v[dst]
        tensor: TensorMapValue = v[map_]
        found = _copied(m, s, lane, index, to, tensor, _corner(v, coordinates, lane))
        if found is None:
            return
        box, first, there = found
        source = Elements(tensor.tensor, to.dtype, box.positions, box.inside)
        stride = m.shared.stride // to.dtype.itemsize
        places = [
            (cta, Elements(to.memory, to.dtype, first + (cta - int(s.cta[lane])) * stride + there))
            for cta in _reaches(m, s, lane, None if mask is None else v[mask], index)
        ]
        who = issuer(s, lane, index)
        count_bulk(m, index, tensor.tensor, to.dtype, box.positions[box.inside], len(places))
        _to_barriers(m, who, source, places, v[group], at_lane(v[number], lane))

    return _each(d, op.predicate, start)


def _copied(
    m: Machine,
    s: Strand,
    lane: int,
    op: int,
    ref: Ref,
    map_: TensorMapValue,
    corner: tuple[int, ...],
    *,
    stores: bool = False,
) -> tuple[Box, int, Ints] | None:
    """A box of the tensor, the start of the CTA's shared memory in its view, each element's place there.

    `None`, with a fault, where either side cannot be copied.
    """
    at, own = _position(s, ref, lane, 0)
    if not _box_fits(m, s, lane, op, ref, map_, own):
        return None
    problem = box_problem(map_, corner, stores=stores)
    if problem is not None:
        _fault(m, s, lane, op, problem.kind, problem.text, map_.tensor.name)
        return None
    return box_at(map_, corner), at - own, landing(map_, own)


def _box_fits(
    m: Machine, s: Strand, lane: int, op: int, ref: Ref, map_: TensorMapValue, own: int
) -> bool:
    """Whether a box of shared memory is aligned as copies need it and lies inside; else a fault."""
    start, size = own * ref.dtype.itemsize, map_.bytes
    if start % BOX:
        text = f"needs a box at a multiple of {BOX} bytes of shared memory, found byte {start}"
        _fault(m, s, lane, op, "misaligned", text, "shared")
        return False
    low, high = ref.bounds
    if own < low or own + size // ref.dtype.itemsize - 1 > high:
        text = f"a box of {size} bytes at byte {start} of shared memory reaches outside {ref.described}"
        _fault(m, s, lane, op, "out_of_bounds", text, "shared", (start,))
        return False
    return True


def _tensor_store(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, TmaAsyncStoreOp)
    _uses_proxy(d, stores=True)
    d.touch(op.src.type)
    src, map_, coordinates = d.slot(op.src), d.slot(op.descriptor), d.slots(op.coordinates)
    index = d.op

    def start(m: Machine, s: Strand, lane: int) -> None:
        v = s.values
        from_: Ref = v[src]
        tensor: TensorMapValue = v[map_]
        corner = _corner(v, coordinates, lane)
        found = _copied(m, s, lane, index, from_, tensor, corner, stores=True)
        if found is None:
            return
        box, first, there = found
        source = Elements(from_.memory, from_.dtype, first + there)
        target = Elements(tensor.tensor, from_.dtype, box.positions, box.inside)
        count_bulk(m, index, tensor.tensor, from_.dtype, target.present, 1, "bulk_store")
        start_store(m, issuer(s, lane, index), source, target)

    return _each(d, op.predicate, start)


def _run(
    m: Machine, s: Strand, lane: int, op: int, ref: Ref, flat: Value, bytes_: int
) -> Elements | None:
    """A run of bytes of a memory, in elements; `None`, with a fault, where it cannot be copied."""
    at, own = _position(s, ref, lane, flat)
    size = ref.dtype.itemsize
    start, name = own * size, ref.memory.name
    if start % PIECE or bytes_ % PIECE or bytes_ <= 0:
        text = f"copies {bytes_} bytes at byte {start} of {name}: both must be multiples of {PIECE}"
        _fault(m, s, lane, op, "misaligned", text, name)
        return None
    count = bytes_ // size
    low, high = ref.bounds
    offsets = own + np.arange(count)
    if own < low or own + count - 1 > high or not ref.memory.owns(offsets).all():
        text = f"copies {bytes_} bytes at byte {start} of {name}, which reach outside {ref.described}"
        _fault(m, s, lane, op, "out_of_bounds", text, name, (own,) if name != "shared" else (start,))
        return None
    return Elements(ref.memory, ref.dtype, at + np.arange(count))


def _plain_load(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, BulkLoadOp)
    _uses_proxy(d)
    dst, dst_indices = d.slot(op.dst), d.slots(op.dst_indices)
    src, src_indices = d.slot(op.src), d.slots(op.src_indices)
    bytes_, group, number = d.slot(op.bytes), d.slot(op.barriers), d.slot(op.index)
    mask = None if op.multicast_mask is None else d.slot(op.multicast_mask)
    index = d.op

    def start(m: Machine, s: Strand, lane: int) -> None:
        v = s.values
        to, from_ = v[dst], v[src]
        size = at_lane(v[bytes_], lane)
        source = _run(m, s, lane, index, from_, flat_index(from_, v, src_indices), size)
        target = _run(m, s, lane, index, to, flat_index(to, v, dst_indices), size)
        if source is None or target is None:
            return
        stride = m.shared.stride // to.dtype.itemsize
        own = int(s.cta[lane])
        places = [
            (cta, Elements(to.memory, to.dtype, target.positions + (cta - own) * stride))
            for cta in _reaches(m, s, lane, None if mask is None else v[mask], index)
        ]
        count_bulk(m, index, from_.memory, from_.dtype, source.positions, len(places))
        _to_barriers(m, issuer(s, lane, index), source, places, v[group], at_lane(v[number], lane))

    return _each(d, op.predicate, start)


def _plain_store(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, BulkStoreOp)
    _uses_proxy(d, stores=True)
    dst, dst_indices = d.slot(op.dst), d.slots(op.dst_indices)
    src, src_indices = d.slot(op.src), d.slots(op.src_indices)
    bytes_, index = d.slot(op.bytes), d.op

    def start(m: Machine, s: Strand, lane: int) -> None:
        v = s.values
        to, from_ = v[dst], v[src]
        size = at_lane(v[bytes_], lane)
        source = _run(m, s, lane, index, from_, flat_index(from_, v, src_indices), size)
        target = _run(m, s, lane, index, to, flat_index(to, v, dst_indices), size)
        if source is not None and target is not None:
            count_bulk(m, index, to.memory, to.dtype, target.positions, 1, "bulk_store")
            start_store(m, issuer(s, lane, index), source, target)

    return _each(d, op.predicate, start)


def _send(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, BulkSendOp)
    _uses_proxy(d)
    dst, dst_indices = d.slot(op.dst), d.slots(op.dst_indices)
    src, src_indices = d.slot(op.src), d.slots(op.src_indices)
    bytes_, group, number = d.slot(op.bytes), d.slot(op.barriers), d.slot(op.index)
    rank, index = d.slot(op.rank), d.op

    def start(m: Machine, s: Strand, lane: int) -> None:
        v = s.values
        to, from_ = v[dst], v[src]
        size = at_lane(v[bytes_], lane)
        source = _run(m, s, lane, index, from_, flat_index(from_, v, src_indices), size)
        target = _run(m, s, lane, index, to, flat_index(to, v, dst_indices), size)
        there = _reaches(m, s, lane, 1 << at_lane(v[rank], lane), index)
        if source is None or target is None or not there:
            return
        if int(target.positions[0]) * to.dtype.itemsize // m.shared.stride != there[0]:
            text = (
                f"sends to one CTA, but its bytes are counted by that of rank {at_lane(v[rank], lane)}"
            )
            _fault(m, s, lane, index, "cluster", text, "shared")
            return
        who = issuer(s, lane, index)
        _to_barriers(m, who, source, [(there[0], target)], v[group], at_lane(v[number], lane))

    return _each(d, op.predicate, start)


def _peer(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, PeerOp)
    d.program.needs_clocks = True
    source, rank, r, index = d.slot(op.memref), d.slot(op.rank), d.slot(op.result), d.op

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        ref: Ref = v[source]
        size = m.shape.agents.cluster
        wanted = np.broadcast_to(np.asarray(v[rank], np.int64), (s.count,))
        outside = (wanted < 0) | (wanted >= size)
        if outside[s.active].any():
            lane = int(s.active[0])
            text = f"a rank outside the cluster of {size} CTAs"
            _fault(m, s, lane, index, "cluster", text, "shared")
        away = wanted.clip(0, size - 1) - s.cta % size
        memory: Memory = PeerMemory(m.shared, size)
        there = ref.offset + away * (m.shared.stride // ref.dtype.itemsize)
        v[r] = Ref(memory, there, ref.strides, ref.dtype)

    return step


def _prefetch(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, BulkPrefetchOp)
    src, src_indices, bytes_ = d.slot(op.src), d.slots(op.src_indices), d.slot(op.bytes)
    index = d.op

    def start(m: Machine, s: Strand, lane: int) -> None:
        v = s.values
        ref: Ref = v[src]
        _run(m, s, lane, index, ref, flat_index(ref, v, src_indices), at_lane(v[bytes_], lane))

    return _each(d, None, start)


BULK_ROWS: dict[str, Row] = {
    "nvgpu.tma.async.load": _tensor_load,
    "nvgpu.tma.async.store": _tensor_store,
    "nvgpu.tma.prefetch.descriptor": nothing,
    "phobos.bulk.load": _plain_load,
    "phobos.bulk.store": _plain_store,
    "phobos.bulk.send": _send,
    "phobos.bulk.prefetch": _prefetch,
    "phobos.tma.prefetch": nothing,
    "phobos.peer": _peer,
}
