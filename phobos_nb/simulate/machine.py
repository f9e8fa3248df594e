"""What the running program sees of the GPU: a chunk of CTAs, their memory, and who watches it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phobos_nb.simulate.clocks import Clocks
from phobos_nb.simulate.memory import Allocation, Memory, SharedMemory, Tensor
from phobos_nb.simulate.operands import Probe
from phobos_nb.simulate.recorder import Cta, Recorder
from phobos_nb.simulate.shadow import Shadow
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Ints


@dataclass(frozen=True)
class LaunchShape:
    """Threads per CTA and CTAs per axis."""

    threads: int
    grid: Cta

    def coordinates(self, cta: int) -> Cta:
        """Block ids of a CTA by its linear number, x fastest."""
        x, y, _ = self.grid
        return cta % x, cta // x % y, cta // (x * y)


@dataclass
class Watch:
    """What is looked for. `unit` is the bytes of the smallest access to shared memory."""

    races: bool = True
    banks: bool = True
    trace: int = 0
    unit: int = 4


@dataclass
class Machine:
    """The state of one chunk: `ctas` are the linear numbers of its CTAs.

    `tensors` and `global_shadows` live for the whole launch, everything else for the chunk. Only
    tensors that the kernel writes have a shadow. `counts` are warp instructions per step; `traced` says
    that the events of the chunk's first CTA are recorded; `probe` looks at one element; `strands`
    receives the parts of a strand that split; `mbarriers` are groups of memory barriers by the
    operation that made them; `masked` counts the lanes that conditions left out.
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
    masked: dict[int, int] = field(default_factory=dict[int, int])
    prints: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

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

    def owner(self, gid: int) -> tuple[Cta, int]:
        """CTA and thread of a thread's number in the grid."""
        return self.shape.coordinates(gid // self.shape.threads), gid % self.shape.threads


def whole_chunk(machine: Machine, slots: int) -> Strand:
    """The strand of every lane of the chunk."""
    threads = machine.shape.threads
    count = len(machine.ctas)
    cta = np.repeat(np.arange(count), threads)
    thread = np.tile(np.arange(threads), count)
    gid = machine.ctas[cta] * threads + thread
    return Strand(np.arange(count * threads), thread, cta, gid, slots)


def shadows_for(
    tensors: dict[str, Tensor], written: set[str], clocks: Clocks, threads: int
) -> dict[int, Shadow]:
    """Race detectors for the allocations of the tensors that a kernel writes."""
    shadows: dict[int, Shadow] = {}
    for name in written:
        allocation: Allocation = tensors[name].allocation
        unit = smallest_unit(allocation, tensors)
        units = len(allocation.buffer) // unit
        shadows[id(allocation)] = Shadow(units, clocks, threads, across=True, unit=unit)
    return shadows


def smallest_unit(allocation: Allocation, tensors: dict[str, Tensor]) -> int:
    """Bytes of the smallest element that lives in an allocation."""
    return min(t.dtype.itemsize for t in tensors.values() if t.allocation is allocation)
