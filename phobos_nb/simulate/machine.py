"""What the running program sees of the GPU: a chunk of CTAs, their memory, and who watches it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from phobos_nb.simulate.agents import Agents
from phobos_nb.simulate.clocks import IDENTITY, THREAD_MASK, Clocks
from phobos_nb.simulate.memory import Allocation, Memory, SharedMemory, Tensor
from phobos_nb.simulate.operands import Probe
from phobos_nb.simulate.recorder import Cta, Recorder
from phobos_nb.simulate.shadow import Shadow
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.unwritten import Unwritten
from phobos_nb.simulate.values import Ints

Part = TypeVar("Part")
NOBODY = Agents(0)


def linear_number(cta: tuple[Any, Any, Any], grid: Cta) -> Any:
    """The number of a CTA, or of arrays of them, in the whole grid, x fastest."""
    return cta[0] + grid[0] * (cta[1] + grid[1] * cta[2])


@dataclass(frozen=True)
class LaunchShape:
    """Threads per CTA, CTAs per axis of the grid and of a cluster, and who accesses memory.

    CTAs are numbered cluster by cluster, x fastest in the cluster and among clusters: without clusters
    that is their linear number. `chosen` are the numbers of those that run, in order, where not all do:
    threads are numbered through these.
    """

    threads: int
    grid: Cta
    cluster: Cta = (1, 1, 1)
    agents: Agents = NOBODY
    chosen: Ints | None = None

    def ids(self, number: Any) -> tuple[Any, Any, Any]:
        """Block ids of CTAs by their numbers: ints, or arrays of them."""
        x, y, z = self.cluster
        rank, whole = number % (x * y * z), number // (x * y * z)
        across, up = self.grid[0] // x, self.grid[1] // y
        inner = (rank % x, rank // x % y, rank // (x * y))
        outer = (whole % across, whole // across % up, whole // (across * up))
        return outer[0] * x + inner[0], outer[1] * y + inner[1], outer[2] * z + inner[2]

    def coordinates(self, cta: int) -> Cta:
        """Block ids of a CTA by its number."""
        x, y, z = self.ids(cta)
        return x, y, z

    def number(self, linear: Ints) -> Ints:
        """The numbers of CTAs by their linear numbers, x fastest in the whole grid."""
        order = np.zeros(int(np.prod(self.grid)), np.int64)
        ids = self.ids(np.arange(len(order)))
        order[linear_number(ids, self.grid)] = np.arange(len(order))
        return order[linear]

    def places(self, ctas: Ints) -> Ints:
        """The places of CTAs among those that run, by their numbers."""
        return ctas if self.chosen is None else np.searchsorted(self.chosen, ctas)

    def owner(self, thread: int) -> tuple[Cta, int]:
        """CTA and thread of a thread's number among those that run."""
        place, own = divmod(thread, self.agents.numbers)
        return self.coordinates(place if self.chosen is None else int(self.chosen[place])), own


@dataclass
class Watch:
    """What is looked for. `unit` is the bytes of the smallest access to shared memory."""

    races: bool = True
    banks: bool = True
    trace: int = 0
    unit: int = 4


@dataclass
class Machine:
    """The state of one chunk: `ctas` are the numbers of its CTAs, whole clusters one after the other.

    `tensors` and `global_shadows` live for the whole launch, everything else for the chunk. Only
    tensors that the kernel writes have a shadow. `counts` are warp instructions per step; `traced` says
    that the events of the chunk's first CTA are recorded; `probe` looks at one element; `strands`
    receives the parts of a strand that split; `mbarriers` are groups of memory barriers by the
    operation that made them; `issuers` is the thread that started what an engine did, by the engine's
    record; `unwritten` says whose values came from shared memory that nothing has written.
    """

    shape: LaunchShape
    ctas: Ints
    tensors: dict[str, Tensor]
    shared: SharedMemory
    clocks: Clocks
    recorder: Recorder
    watch: Watch
    shared_shadow: Shadow | None
    global_shadows: dict[int, Shadow]
    counts: list[int]
    target: str
    traced: bool = False
    probe: Probe | None = None
    strands: list[Strand] = field(default_factory=list[Strand])
    mbarriers: dict[int, Any] = field(default_factory=dict[int, Any])
    prints: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    issuers: dict[int, int] = field(default_factory=dict[int, int])
    unwritten: Unwritten = field(default_factory=Unwritten)
    _parts: dict[type, Any] = field(default_factory=dict[type, Any])

    @cached_property
    def places(self) -> Ints:
        """The places of the chunk's CTAs among those that run."""
        return self.shape.places(self.ctas)

    def part(self, kind: type[Part]) -> Part:
        """The chunk's one object of a class, made on first use: state that only some kernels need."""
        found = self._parts.get(kind)
        if found is None:
            found = self._parts[kind] = kind()
        return found

    def shadow_of(self, memory: Memory) -> Shadow | None:
        """The race detector of a memory, `None` where nothing can race."""
        if not self.watch.races:
            return None
        if memory.space == "shared":
            return self.shared_shadow
        return self.global_shadows.get(id(memory.allocation))

    def cta_of(self, strand: Strand, position: int) -> Cta:
        """Block ids of the CTA of one of a strand's lanes."""
        return self.shape.coordinates(int(self.ctas[strand.cta[position]]))

    def owner(self, record: int) -> tuple[Cta, int]:
        """CTA and thread that an access record names: who started it, for one by an engine."""
        thread = record & THREAD_MASK
        return self.shape.owner(self.issuers.get(record & IDENTITY, thread))


def whole_chunk(machine: Machine, slots: int) -> Strand:
    """The strand of every lane of the chunk."""
    threads, numbers = machine.shape.threads, machine.shape.agents.numbers
    count = len(machine.ctas)
    cta = np.repeat(np.arange(count), threads)
    thread = np.tile(np.arange(threads), count)
    gid = machine.places[cta] * numbers + thread
    return Strand(np.arange(count * threads), thread, cta, gid, slots)


def shadows_for(
    tensors: dict[str, Tensor], written: set[str], clocks: Clocks, numbers: int
) -> dict[int, Shadow]:
    """Race detectors for the allocations of the tensors that a kernel writes."""
    shadows: dict[int, Shadow] = {}
    for name in written:
        allocation: Allocation = tensors[name].allocation
        unit = smallest_unit(allocation, tensors)
        units = len(allocation.buffer) // unit
        shadows[id(allocation)] = Shadow(units, clocks, numbers, across=True, unit=unit)
    return shadows


def smallest_unit(allocation: Allocation, tensors: dict[str, Tensor]) -> int:
    """Bytes of the smallest element that lives in an allocation."""
    return min(t.dtype.itemsize for t in tensors.values() if t.allocation is allocation)
