"""Bulk copies under way, each moved by an engine of its own clock at a time that nobody knows.

Loads end at memory barriers: the source is read and the bytes appear when the engine gets to it, which
is as late as possible, or at a random time with a seed. Stores end by groups of their thread: the source
is read by `wait_group.read`, the target is written by `wait_group`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from phobos_nb.simulate.clusters import Clusters
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.mbarriers import MBarriers
from phobos_nb.simulate.memory import Memory
from phobos_nb.simulate.proxies import Issuer, UnderWay, begin, clocks_of, finish
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Array, Bools, DTypeLike, Ints


@dataclass(frozen=True)
class Elements:
    """Elements of a memory by their positions in its typed view; those not `inside` read as zero."""

    memory: Memory
    dtype: DTypeLike
    positions: Ints
    inside: Bools | None = None

    @property
    def present(self) -> Ints:
        """The positions that exist."""
        return self.positions if self.inside is None else self.positions[self.inside]

    def read(self) -> Array:
        """Their values."""
        typed = self.memory.allocation.typed(self.dtype)
        if self.inside is None:
            return typed[self.positions]
        values = np.zeros(len(self.positions), self.dtype)
        values[self.inside] = typed[self.present]
        return values

    def write(self, values: Array) -> None:
        """Set those that exist."""
        typed = self.memory.allocation.typed(self.dtype)
        typed[self.present] = values if self.inside is None else values[self.inside]


@dataclass
class Load:
    """A copy to shared memory, to one or several CTAs; each has its barrier count the bytes."""

    who: Issuer
    source: Elements
    targets: list[tuple[int, Elements]]
    group: MBarriers
    index: int
    bytes: int
    read: UnderWay | None
    writes: list[UnderWay | None]

    def move(self, m: Machine) -> None:
        """Read, write, and count."""
        values = self.source.read()
        clusters = m.part(Clusters)
        for k, ((cta, target), write) in enumerate(zip(self.targets, self.writes, strict=True)):
            if clusters.has_ended(m, cta):
                place = m.shape.owner(self.who.number)
                text = "a bulk copy is still under way to the shared memory of a CTA that has ended"
                m.recorder.fault("bulk_copy", self.who.op, text, *place)
            target.write(values)
            access = [write, self.read] if k == 0 else [write]
            self.group.land(m, self.who, cta, self.index, self.bytes, access)


@dataclass
class Store:
    """A copy from shared memory; `age` counts the commits since it was started, 0 is not committed."""

    who: Issuer
    source: Elements
    target: Elements
    read: UnderWay | None
    write: UnderWay | None
    age: int = 0
    values: Array | None = None
    told: bool = False
    written: bool = False

    def read_source(self) -> None:
        """Take the bytes out of shared memory, once."""
        if self.values is None:
            self.values = self.source.read()

    def move(self) -> None:
        """Write the target, once."""
        self.read_source()
        if not self.written and self.values is not None:
            self.written = True
            self.target.write(self.values)


@dataclass
class BulkCopies:
    """The copies of a chunk that are under way; stores by their thread's number, in order."""

    loads: list[Load] = field(default_factory=list[Load])
    stores: dict[int, list[Store]] = field(default_factory=dict[int, list[Store]])

    def stores_at_random(self, order: np.random.Generator) -> None:
        """Stores move at any time; nobody can tell but by a race."""
        for stores in self.stores.values():
            for store in stores:
                if order.random() < 0.5:
                    store.read_source()
                elif store.values is not None:
                    store.move()


def advance(m: Machine, order: np.random.Generator | None) -> bool:
    """Let a copy to shared memory move, the oldest or a random one; whether there was one."""
    copies = m.part(BulkCopies)
    if order is not None:
        copies.stores_at_random(order)
    if not copies.loads:
        return False
    which = 0 if order is None else int(order.integers(len(copies.loads)))
    copies.loads.pop(which).move(m)
    return True


def start_load(
    m: Machine,
    who: Issuer,
    source: Elements,
    targets: Sequence[tuple[int, Elements]],
    group: MBarriers,
    index: int,
) -> None:
    """A thread starts a copy to shared memory, whose barriers are known to be usable."""
    read = begin(m, who, source.memory, source.dtype, source.present, writes=False)
    writes = [begin(m, who, t.memory, t.dtype, t.positions, writes=True) for _, t in targets]
    bytes_ = len(source.positions) * source.dtype.itemsize
    load = Load(who, source, list(targets), group, index, bytes_, read, writes)
    m.part(BulkCopies).loads.append(load)


def start_store(m: Machine, who: Issuer, source: Elements, target: Elements) -> None:
    """A thread starts a copy from shared memory, in its open group."""
    read = begin(m, who, source.memory, source.dtype, source.positions, writes=False)
    write = begin(m, who, target.memory, target.dtype, target.present, writes=True)
    store = Store(who, source, target, read, write)
    m.part(BulkCopies).stores.setdefault(who.number, []).append(store)


def commit(m: Machine, s: Strand) -> None:
    """Every active lane closes its group: all its stores get one group older."""
    stores = m.part(BulkCopies).stores
    for number in s.gid[s.active].tolist():
        for store in stores.get(number, ()):
            store.age += 1


def wait(m: Machine, s: Strand, groups: int, *, read: bool) -> None:
    """Every active lane waits until only its latest groups are pending, or only their reads are over."""
    copies, clocks = m.part(BulkCopies), clocks_of(m)
    for lane in s.active.tolist():
        mine = copies.stores.get(int(s.gid[lane]))
        old = [x for x in mine or () if x.age > groups]
        if not old or mine is None:
            continue
        over: list[UnderWay | None] = []
        for store in old:
            over += _over(store, read=read)
        cta, warp = int(s.cta[lane]), int(s.warp[lane])
        clocks.learn(cta, warp, finish(m, cta, clocks.agents.stores_of(warp), over))
        if not read:
            mine[:] = [x for x in mine if x.age <= groups]


def _over(store: Store, *, read: bool) -> list[UnderWay | None]:
    """Let a store get as far as a wait asks; the accesses that are over by that."""
    over: list[UnderWay | None] = []
    store.read_source()
    if not store.told:
        store.told = True
        over.append(store.read)
    if not read:
        store.move()
        over.append(store.write)
    return over


def end(m: Machine, s: Strand) -> None:
    """A strand has ended: its stores must have read their shared memory, which may be gone now."""
    stores = m.part(BulkCopies).stores
    for lane in s.active.tolist():
        for store in stores.get(int(s.gid[lane]), ()):
            if not store.told:
                text = "the thread ends while its bulk store may still read shared memory"
                place = m.cta_of(s, lane), int(s.thread[lane])
                m.recorder.fault("bulk_copy", store.who.op, text, *place)


def drain(m: Machine) -> None:
    """The chunk has ended: what is under way arrives."""
    copies = m.part(BulkCopies)
    while copies.loads:
        copies.loads.pop(0).move(m)
    for stores in copies.stores.values():
        for store in stores:
            store.move()
    copies.stores.clear()
