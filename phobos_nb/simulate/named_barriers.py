"""Numbered barriers of a CTA, at which some of its warps meet: PTX ISA, `barrier`.

A barrier opens when as many threads have arrived as each arrival says, whole warps at a time; then it is
free again. Those that only arrive hand over what they did; those that wait take it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from phobos_nb.ir.dialects.nvvm_sync import NAMED_BARRIERS
from phobos_nb.simulate.clocks import PLANES
from phobos_nb.simulate.clusters import warps_of
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.program_points import BLOCKED
from phobos_nb.simulate.proxies import clocks_of
from phobos_nb.simulate.strand import WARP, Strand
from phobos_nb.simulate.values import Value


@dataclass
class Barrier:
    """One barrier of one CTA: threads wanted and arrived in this phase, phases, what is handed over."""

    clock: NDArray[np.int64]
    wanted: int = 0
    first: int = -1
    arrived: list[int] = field(default_factory=list[int])
    phase: int = 0
    handed: NDArray[np.int64] | None = None


class NamedBarriers:
    """The barriers of a chunk, by CTA and number."""

    def __init__(self) -> None:
        self.barriers: dict[tuple[int, int], Barrier] = {}

    def at(self, m: Machine, cta: int, number: int) -> Barrier:
        """One of them."""
        found = self.barriers.get((cta, number))
        if found is None:
            empty = np.zeros((PLANES, m.clocks.rows), np.int64)
            found = self.barriers[cta, number] = Barrier(empty)
        return found


@dataclass(frozen=True)
class AtNamed:
    """What a strand waits for: by CTA, the number of the barrier and the phase it arrived in."""

    op: int
    phases: Mapping[tuple[int, int], tuple[int, int]]

    def ready(self, m: Machine, s: Strand) -> bool:
        """Whether every barrier has opened since."""
        part = m.part(NamedBarriers)
        return all(part.at(m, w[0], self.phases[w][0]).phase > self.phases[w][1] for w in warps_of(s))

    def resume(self, m: Machine, s: Strand) -> None:
        """Take what was handed over."""
        part, clocks = m.part(NamedBarriers), clocks_of(m)
        for cta, warp in warps_of(s):
            handed = part.at(m, cta, self.phases[cta, warp][0]).handed
            if handed is not None:
                clocks.learn(cta, warp, handed)

    def describe(self, m: Machine, s: Strand) -> str:
        """What a deadlock report says of it."""
        first = warps_of(s)[0]
        number, _ = self.phases[first]
        barrier = m.part(NamedBarriers).at(m, first[0], number)
        there = len(barrier.arrived) * WARP
        return (
            f"named barrier {number} ({m.recorder.places[self.op]}), where {there} of "
            f"{barrier.wanted} threads are"
        )


def arrive(m: Machine, s: Strand, op: int, number: Value, threads: Value) -> AtNamed:
    """The active warps arrive; `None` threads are all of the CTA. What they would wait for."""
    clocks, part = clocks_of(m), m.part(NamedBarriers)
    numbers = np.broadcast_to(np.asarray(number, np.int64), (s.count,))
    counts = m.shape.threads if threads is None else threads
    wanted = np.broadcast_to(np.asarray(counts, np.int64), (s.count,))
    phases: dict[tuple[int, int], tuple[int, int]] = {}
    for cta, warp in warps_of(s):
        lane = int(s.active[int(((s.cta == cta) & (s.warp == warp))[s.active].argmax())])
        which = int(numbers[lane])
        barrier = part.at(m, cta, which)
        phases[cta, warp] = which, barrier.phase
        _enter(m, s, op, barrier, lane, which, int(wanted[lane]))
        np.maximum(barrier.clock, clocks.publish(cta, warp), out=barrier.clock)
        barrier.arrived.append(warp)
        if len(barrier.arrived) * WARP >= barrier.wanted:
            barrier.phase += 1
            barrier.arrived = []
            barrier.handed = barrier.clock.copy()
    return AtNamed(op, phases)


def _enter(m: Machine, s: Strand, op: int, barrier: Barrier, lane: int, which: int, wanted: int) -> None:
    """Note what an arrival wants, and report what the hardware forbids of it."""
    problem = ""
    if not 0 <= which < NAMED_BARRIERS:
        problem = f"barrier {which}: a CTA has {NAMED_BARRIERS}, from 0 to {NAMED_BARRIERS - 1}"
    elif wanted <= 0 or wanted % WARP:
        problem = f"barrier {which} for {wanted} threads, which are not whole warps"
    elif wanted > m.shape.threads:
        problem = f"barrier {which} for {wanted} threads, but the CTA has {m.shape.threads}"
    elif barrier.arrived and wanted != barrier.wanted:
        place = m.recorder.places[barrier.first]
        problem = f"barrier {which} for {wanted} threads, but {barrier.wanted} are wanted by {place}"
    elif int(s.warp[lane]) in barrier.arrived:
        problem = f"warp {int(s.warp[lane])} arrives at barrier {which} twice in one phase"
    if problem:
        m.recorder.fault("named_barrier", op, problem, m.cta_of(s, lane), int(s.thread[lane]))
    if not barrier.arrived:
        barrier.wanted, barrier.first = max(wanted, WARP), op


def sync(m: Machine, s: Strand, op: int, number: Value, threads: Value, following: int) -> int | None:
    """The active warps arrive and wait."""
    waiting = arrive(m, s, op, number, threads)
    if waiting.ready(m, s):
        waiting.resume(m, s)
        return None
    s.pc, s.waiting = following, waiting
    return BLOCKED
