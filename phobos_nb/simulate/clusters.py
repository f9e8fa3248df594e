"""Clusters: CTAs that meet at a barrier of their own and reach into each other's shared memory.

A CTA's shared memory may be used by its peers from when they know that it has started until it ends
(CUDA C++ Programming Guide, "Distributed Shared Memory").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.simulate.clocks import GENERIC, PLANES, READS, TIME_SHIFT
from phobos_nb.simulate.findings import kind_of
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.memory import SharedMemory, Space
from phobos_nb.simulate.program_points import BLOCKED
from phobos_nb.simulate.proxies import clocks_of
from phobos_nb.simulate.shadow import Shadow, operation_of
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools, Ints, Value


class PeerMemory:
    """The shared memory of a cluster; offsets count from the lane's own CTA."""

    name = "shared"
    space: Space = "shared"
    holes = True

    def __init__(self, shared: SharedMemory, cluster: int) -> None:
        self.bytes = shared.bytes
        self.stride = shared.stride
        self.cluster = cluster
        self.allocation = shared.allocation
        self._shared = shared

    def bounds(self, dtype: np.dtype[Any]) -> tuple[int, int]:
        """From the first CTA's first byte to the last one's last, wherever the lane is."""
        most = self.cluster * self.stride // dtype.itemsize
        return -most, most - 1

    def origin(self, dtype: np.dtype[Any], cta: NDArray[np.int64]) -> Any:
        """Each lane's own CTA."""
        return self._shared.origin(dtype, cta)

    def owns(self, offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
        """What every CTA of the cluster may touch; the bytes between are padding."""
        return np.ones(offsets.shape, np.bool_)

    def index_of(self, offset: int, itemsize: int) -> tuple[int, ...]:
        """The byte offset in the CTA that has it."""
        return (offset * itemsize % self.stride,)


@dataclass
class Meeting:
    """The barrier of one cluster: warps that have arrived, phases, what is handed over."""

    clock: NDArray[np.int64]
    arrived: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    phase: int = 0
    handed: NDArray[np.int64] | None = None


class Clusters:
    """The barriers of the clusters of a chunk, and which warps have ended."""

    def __init__(self) -> None:
        self.meetings: dict[int, Meeting] = {}
        self.entered: dict[tuple[int, int], int] = {}
        self.ended: set[tuple[int, int]] = set()

    def meeting(self, m: Machine, cluster: int) -> Meeting:
        """The barrier of a cluster."""
        found = self.meetings.get(cluster)
        if found is None:
            found = self.meetings[cluster] = Meeting(np.zeros((PLANES, m.clocks.rows), np.int64))
        return found

    def has_ended(self, m: Machine, cta: int) -> bool:
        """Whether every warp of a CTA has."""
        return all((cta, w) in self.ended for w in range(m.shape.agents.warps))


def warps_of(s: Strand) -> list[tuple[int, int]]:
    """CTA and number of every warp that has an active lane."""
    lanes = s.leaders
    return list(zip(s.cta[lanes].tolist(), s.warp[lanes].tolist(), strict=True))


def arrive(m: Machine, s: Strand, op: int, *, relaxed: bool) -> None:
    """The active warps arrive at the barrier of their cluster; relaxed, they hand over nothing."""
    clusters, size, clocks = m.part(Clusters), m.shape.agents.cluster, clocks_of(m)
    for cta, warp in warps_of(s):
        meeting = clusters.meeting(m, cta // size)
        if (cta, warp) in clusters.entered:
            _fault(m, s, cta, op, "arrives at the barrier of the cluster twice without waiting")
        clusters.entered[cta, warp] = meeting.phase
        meeting.arrived.add((cta, warp))
        if not relaxed:
            np.maximum(meeting.clock, clocks.publish(cta, warp), out=meeting.clock)
    for cluster in {cta // size for cta, _ in warps_of(s)}:
        settle(m, cluster)


def settle(m: Machine, cluster: int) -> None:
    """Open the barrier of a cluster if all its warps have arrived or ended, some of them at it."""
    clusters, size, warps = m.part(Clusters), m.shape.agents.cluster, m.shape.agents.warps
    meeting = clusters.meeting(m, cluster)
    everybody = {(cluster * size + c, w) for c in range(size) for w in range(warps)}
    if meeting.arrived and everybody <= meeting.arrived | clusters.ended:
        meeting.phase += 1
        meeting.arrived = set()
        meeting.handed = meeting.clock.copy()


@dataclass(frozen=True)
class AtCluster:
    """What a strand waits for: everybody of its clusters at their barrier."""

    op: int

    def ready(self, m: Machine, s: Strand) -> bool:
        """Whether every barrier that the strand's warps arrived at has opened."""
        clusters, size = m.part(Clusters), m.shape.agents.cluster
        return all(
            clusters.meeting(m, cta // size).phase > clusters.entered[cta, warp]
            for cta, warp in warps_of(s)
        )

    def describe(self, m: Machine, s: Strand) -> str:
        """What a deadlock report says of it."""
        clusters, size = m.part(Clusters), m.shape.agents.cluster
        cluster = warps_of(s)[0][0] // size
        there = len(clusters.meeting(m, cluster).arrived)
        of = size * m.shape.agents.warps
        return (
            f"the barrier of the cluster ({m.recorder.places[self.op]}), where {there} of {of} warps are"
        )


def wait(m: Machine, s: Strand, op: int, here: int) -> int | None:
    """Go on when everybody of the cluster has arrived or ended; else block at this step."""
    clusters, size, clocks = m.part(Clusters), m.shape.agents.cluster, clocks_of(m)
    stray = [x for x in warps_of(s) if x not in clusters.entered]
    if stray:
        _fault(m, s, stray[0][0], op, "waits at the barrier of the cluster without having arrived")
        return None
    waiting = AtCluster(op)
    if not waiting.ready(m, s):
        s.pc, s.waiting = here, waiting
        return BLOCKED
    for cta, warp in warps_of(s):
        handed = clusters.meeting(m, cta // size).handed
        if handed is not None:
            clocks.learn(cta, warp, handed)
        del clusters.entered[cta, warp]
    return None


def check_peers(m: Machine, s: Strand, ranks: Value, op: int) -> bool:
    """Whether the active lanes may use the CTAs of these ranks: they exist, have started, not ended."""
    size = m.shape.agents.cluster
    wanted = np.broadcast_to(np.asarray(ranks, np.int64), (s.count,))[s.active]
    if bool(((wanted < 0) | (wanted >= size)).any()):
        _fault(m, s, int(s.cta[s.active[0]]), op, f"a rank outside the cluster of {size} CTAs")
        return False
    return check_targets(m, s, s.active, s.cta[s.active] // size * size + wanted, op)


def of_peers(
    m: Machine, s: Strand, op: int, memory: PeerMemory, offsets: Ints, live: Bools | None
) -> Bools:
    """Which byte offsets, [.., lanes], lie inside a CTA of the lane's cluster; uses are checked."""
    targets = s.cta + offsets // memory.stride
    inside = (targets // memory.cluster == s.cta // memory.cluster) & (
        offsets % memory.stride < memory.bytes
    )
    used = inside if live is None else inside & live
    if s.mask is not None:
        used = used & s.mask
    where = np.nonzero(np.broadcast_to(used, targets.shape))
    check_targets(m, s, where[-1], targets[where], op)
    return inside


def check_targets(m: Machine, s: Strand, lanes: Ints, targets: Ints, op: int) -> bool:
    """Report lanes that use the shared memory of a CTA that may not have started, or has ended."""
    clusters, clocks = m.part(Clusters), clocks_of(m)
    good = True
    triples = np.unique(np.stack([s.cta[lanes], s.warp[lanes], targets], 1), axis=0)
    for cta, warp, target in triples.tolist():
        if target == cta:
            continue
        first = int(clocks.base[target])
        there = slice(first, first + clocks.agents.per_cta)
        if m.watch.races and not clocks.known[(GENERIC, READS), cta, warp, there].any():
            _fault(m, s, cta, op, "uses the shared memory of a CTA that may not have started yet")
        if clusters.has_ended(m, target):
            _fault(m, s, cta, op, "uses the shared memory of a CTA that has ended")
            good = False
    return good


def end(m: Machine, s: Strand, op: int) -> None:
    """A strand has ended: barriers of clusters need not wait for it, and its CTA may be gone."""
    clusters, size = m.part(Clusters), m.shape.agents.cluster
    warps = warps_of(s)
    clusters.ended.update(warps)
    if size == 1:
        return
    for cluster in {cta // size for cta, _ in warps}:
        settle(m, cluster)
    for cta in {cta for cta, _ in warps}:
        if m.shared_shadow is not None and clusters.has_ended(m, cta):
            _check_left(m, m.shared_shadow, cta, op)


def _check_left(m: Machine, shadow: Shadow, cta: int, op: int) -> None:
    """Report accesses of peers to the shared memory of a CTA that ended without knowing of them."""
    clocks = clocks_of(m)
    shadow.enter_reads()
    width = m.shared.stride // shadow.unit
    units = slice(cta * width, (cta + 1) * width)
    known = clocks.known[:, cta].max(1)
    for plane, records in [(GENERIC, shadow.writes[units])] + [
        (READS, shadow.reads[row][units]) for row in shadow.entered
    ]:
        agents = clocks.agent_of(records)
        peers = agents // clocks.agents.per_cta != cta % clocks.agents.cluster
        late = peers & (records != 0) & (records >> TIME_SHIFT > known[plane][agents])
        if late.any():
            unit = int(late.argmax())
            record = int(records[unit])
            there, thread = m.owner(record)
            kind = kind_of("write after read" if plane == READS else "write after write", record)
            m.recorder.race(
                kind,
                (operation_of(record), op),
                (there, m.shape.coordinates(int(m.ctas[cta]))),
                (thread, 0),
                "shared",
                (unit * shadow.unit,),
                int(late.sum()),
            )


def _fault(m: Machine, s: Strand, cta: int, op: int, text: str) -> None:
    lane = int(s.active[int((s.cta[s.active] == cta).argmax())])
    m.recorder.fault("cluster", op, text, m.cta_of(s, lane), int(s.thread[lane]))
