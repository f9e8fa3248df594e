"""Running the strands of a chunk: one after the other until each ends, deadlocks reported."""

from __future__ import annotations

import numpy as np

from phobos_nb.simulate import bulk_copies, clusters, registers, warp_meetings
from phobos_nb.simulate.barriers import release
from phobos_nb.simulate.machine import Machine, whole_chunk
from phobos_nb.simulate.mbarriers import Polled
from phobos_nb.simulate.program import Program
from phobos_nb.simulate.program_points import BLOCKED, SPLIT
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.trace import OPERATIONS, trace_operation
from phobos_nb.simulate.values import Value

CHANCE = 0.25
"""With a seed, how likely a bulk copy moves before the next strand runs."""
MOST_POLLS = 1000
"""Rounds of asking a memory barrier, with nothing else going on, after which that is a deadlock."""


def run_chunk(m: Machine, program: Program, arguments: list[Value], seed: int) -> None:
    """Run a chunk of CTAs to the end. With a seed, every warp is a strand, taken in random order."""
    start = whole_chunk(m, len(program.slot_of))
    for slot, value in zip(program.arguments, arguments, strict=True):
        start.values[slot] = value
    order = np.random.default_rng(seed) if seed else None
    running = [start] if order is None else _warps_apart(start)
    waiting: list[Strand] = []
    engines = program.needs_clocks
    polls = 0
    while running or waiting:
        if not running:
            running = _wake(m, waiting, running)
            if running or (engines and bulk_copies.advance(m, order)):
                continue
            polls += 1
            running = _polling(waiting) if polls < MOST_POLLS else []
            if not running:
                running = _deadlock(m, waiting)
            continue
        if engines and order is not None and order.random() < CHANCE:
            bulk_copies.advance(m, order)
            running += _wake(m, waiting, running)
        strand = running.pop(int(order.integers(len(running))) if order is not None else 0)
        status = run_strand(m, program, strand)
        if status == SPLIT:
            running += m.strands
            m.strands.clear()
        elif status == BLOCKED:
            polls = polls if isinstance(strand.waiting, Polled) else 0
            waiting.append(strand)
            running += _wake(m, waiting, running)
        elif engines:
            _end(m, strand, program)
            running += _wake(m, waiting, running)
    if engines:
        bulk_copies.drain(m)


def _end(m: Machine, s: Strand, program: Program) -> None:
    """A strand has ended: what it leaves under way, and who need not wait for it any more."""
    s.set_mask(None)
    bulk_copies.end(m, s)
    warp_meetings.end(m, s)
    clusters.end(m, s, len(program.places) - 1)
    registers.end(m, s)


def _polling(waiting: list[Strand]) -> list[Strand]:
    """Take out the strands that only wait to ask again."""
    found = [s for s in waiting if isinstance(s.waiting, Polled)]
    for s in found:
        s.waiting = None
        waiting.remove(s)
    return found


def run_strand(m: Machine, program: Program, s: Strand) -> int:
    """Run a strand until it ends, blocks or splits; the reason."""
    code, counts = program.code, m.counts
    pc, every = s.pc, m.traced and m.watch.trace >= OPERATIONS
    while True:
        counts[pc] += s.warps
        if every:
            trace_operation(m, s, program.ops[pc], "operation", OPERATIONS)
        following = code[pc](m, s)
        if following is None:
            pc += 1
        elif following >= 0:
            pc = following
        else:
            return following


def _warps_apart(start: Strand) -> list[Strand]:
    return [start.part(np.flatnonzero(start.warp == w)) for w in range(int(start.warp.max()) + 1)]


def _wake(m: Machine, waiting: list[Strand], running: list[Strand]) -> list[Strand]:
    """Take the strands that may go on out of the waiting ones."""
    ready = release(m, waiting, running)
    ready += [s for s in waiting if s not in ready and s.waiting.ready(m, s)]
    for s in ready:
        resume = getattr(s.waiting, "resume", None)
        if resume is not None:
            resume(m, s)
        s.waiting = None
        waiting.remove(s)
    return ready


def _deadlock(m: Machine, waiting: list[Strand]) -> list[Strand]:
    """Nobody can move. Strands of several CTAs are split and tried again, then the end is reported."""
    if any(len(s.active_ctas) > 1 for s in waiting):
        apart = [s.part(np.flatnonzero(s.cta == c)) for s in waiting for c in np.unique(s.cta).tolist()]
        waiting[:] = apart
        return []
    _report(m, waiting)
    waiting.clear()
    return []


def _report(m: Machine, waiting: list[Strand]) -> None:
    lines: list[str] = []
    for s in waiting:
        warps = sorted({int(w) for w in s.warp})
        cta = m.shape.coordinates(int(m.ctas[s.cta[0]]))
        lines.append(f"warps {warps} of CTA {cta} wait for {s.waiting.describe(m, s)}")
    first = waiting[0]
    text = "deadlock: nobody can go on; " + "; ".join(lines)
    m.recorder.fault("deadlock", first.waiting.op, text, m.cta_of(first, 0), int(first.thread[0]))
