"""How many registers each warp may use: `setmaxnreg` moves them between the warps of a CTA.

A CTA starts with as many per thread as the kernel was compiled for; what is given back can be asked for,
and asking waits until enough is free (PTX ISA, `setmaxnreg`).
"""

from __future__ import annotations

from dataclasses import dataclass

from phobos_nb.simulate.clusters import Clusters, warps_of
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.program_points import BLOCKED
from phobos_nb.simulate.strand import WARP, Strand

FILE = 65536
"""Registers of an SM."""
MOST = 255
UNIT = 8
WARPGROUP = 4


def at_launch(threads: int, asked: int) -> int:
    """Registers per thread of a kernel compiled for CTAs of this size, or for what was asked."""
    return asked or min(FILE // max(threads, 1), MOST) // UNIT * UNIT


class Registers:
    """What each warp of a chunk has, where it differs from the start, and what each CTA has free.

    changes: the operations by which each warp changed that, in order.
    """

    def __init__(self) -> None:
        self.start = 0
        self.changes: dict[tuple[int, int], list[int]] = {}
        self.held: dict[tuple[int, int], int] = {}
        self.free: dict[int, int] = {}


@dataclass(frozen=True)
class ForRegisters:
    """What a strand waits for: registers that other warps of its CTAs give back."""

    op: int
    count: int

    def ready(self, m: Machine, s: Strand) -> bool:
        """Whether every CTA of the strand has enough."""
        part = m.part(Registers)
        return all(_needed(m, s, cta, self.count) <= part.free.get(cta, 0) for cta in _ctas(s))

    def describe(self, m: Machine, s: Strand) -> str:
        """What a deadlock report says of it."""
        cta = _ctas(s)[0]
        free, needed = m.part(Registers).free.get(cta, 0), _needed(m, s, cta, self.count)
        place = m.recorder.places[self.op]
        return f"{needed} registers ({place}), of which {free} are free: nobody gives back the others"


def _ctas(s: Strand) -> list[int]:
    return s.active_ctas.tolist()


def _needed(m: Machine, s: Strand, cta: int, count: int) -> int:
    """Registers that the strand's warps of a CTA lack."""
    part = m.part(Registers)
    held = [part.held.get(w, part.start) for w in warps_of(s) if w[0] == cta]
    return sum(max(0, count - h) for h in held) * WARP


def change(
    m: Machine, s: Strand, op: int, count: int, start: int, here: int, *, more: bool
) -> int | None:
    """The active warps ask for `count` registers per thread, or keep only so many."""
    part = m.part(Registers)
    part.start = start
    _check(m, s, op, count, more=more)
    if more:
        waiting = ForRegisters(op, count)
        if not waiting.ready(m, s):
            s.pc, s.waiting = here, waiting
            return BLOCKED
    for warp in warps_of(s):
        part.changes.setdefault(warp, []).append(op)
        held = part.held.get(warp, start)
        if (count > held) == more:
            part.free[warp[0]] = part.free.get(warp[0], 0) - (count - held) * WARP
            part.held[warp] = count
    return None


def _check(m: Machine, s: Strand, op: int, count: int, *, more: bool) -> None:
    """Report a change in the wrong direction, which is undefined."""
    part = m.part(Registers)
    warps = warps_of(s)
    held = [part.held.get(w, part.start) for w in warps]
    problem = ""
    if more and max(held) > count:
        problem = f"asks for {count} registers, fewer than the {max(held)} it has"
    elif not more and min(held) < count:
        problem = f"keeps {count} registers, more than the {min(held)} it has"
    if problem:
        _fault(m, s, op, problem)


def end(m: Machine, s: Strand) -> None:
    """A strand has ended: report warpgroups of which not all warps changed their registers alike."""
    part = m.part(Registers)
    if not part.changes:
        return
    for cta, warp in warps_of(s):
        first = warp // WARPGROUP * WARPGROUP
        made = [part.changes.get((cta, first + k), []) for k in range(WARPGROUP)]
        whole = all(m.part(Clusters).ended.issuperset({(cta, first + k)}) for k in range(WARPGROUP))
        if whole and any(x != made[0] for x in made):
            _fault(m, s, max(made, key=len)[0], "only a part of a warpgroup changes its registers")


def _fault(m: Machine, s: Strand, op: int, text: str) -> None:
    lane = int(s.active[0])
    m.recorder.fault("registers", op, text, m.cta_of(s, lane), int(s.thread[lane]))
