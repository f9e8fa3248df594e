"""Asynchronous products of warpgroups: the groups in flight, and when they are over.

A product belongs to the four warps of its warpgroup together: it is under way until its group has been
waited for, and a wait ends only when all four warps have issued what it waits for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from phobos_nb.simulate.clocks import VectorClocks
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.program_points import BLOCKED
from phobos_nb.simulate.proxies import UnderWay, finish
from phobos_nb.simulate.strand import WARP, Strand
from phobos_nb.simulate.values import Ints

WARPS = 4
"""Warps of a warpgroup."""


@dataclass
class Group:
    """Products that were committed together: what they read, and the clock of their end, if any."""

    accesses: list[UnderWay | None] = field(default_factory=list["UnderWay | None"])
    clock: NDArray[np.int64] | None = None


class Warpgroups:
    """The products of a chunk; arrays are [ctas, warps].

    committed: groups that a warp has closed. landed: groups that it knows to be over. fences: its
    `wgmma.fence`s. groups: those of each CTA and warpgroup, in order.
    """

    def __init__(self) -> None:
        self.groups: dict[tuple[int, int], list[Group]] = {}
        self.size(0, 0)

    def size(self, ctas: int, warps: int) -> None:
        """Begin with these CTAs and warps."""
        self.committed, self.landed, self.fences = (np.zeros((ctas, warps), np.int64) for _ in range(3))

    def group(self, cta: int, warp: int, number: int) -> Group:
        """One group of a warp's warpgroup."""
        found = self.groups.setdefault((cta, warp // WARPS), [])
        while len(found) <= number:
            found.append(Group())
        return found[number]

    def issued(self, cta: int, warp: int, number: int) -> bool:
        """Whether all warps of a warp's warpgroup have committed `number` groups."""
        first = warp // WARPS * WARPS
        return bool((self.committed[cta, first : first + WARPS] >= number).all())


def warpgroups_of(m: Machine) -> Warpgroups:
    """The chunk's one record of products."""
    found = m.part(Warpgroups)
    if not found.committed.size:
        found.size(len(m.ctas), m.shape.threads // WARP)
    return found


def active_warps(s: Strand) -> Ints:
    """The CTA and warp of every warp with an active lane, [warps, 2]."""
    warps = np.stack([s.cta[::WARP], s.warp[::WARP]], 1)
    return warps if s.mask is None else warps[s.mask.reshape(-1, WARP).any(1)]


def fence(m: Machine, s: Strand) -> None:
    """`wgmma.fence`: registers written so far may be given to products."""
    warps = active_warps(s)
    warpgroups_of(m).fences[warps[:, 0], warps[:, 1]] += 1


def commit(m: Machine, s: Strand) -> None:
    """Close the group of the products issued so far, which may be none."""
    warps = active_warps(s)
    warpgroups_of(m).committed[warps[:, 0], warps[:, 1]] += 1


@dataclass(frozen=True)
class AtProducts:
    """What a strand waits for: that the other warps of its warpgroups issue their part."""

    op: int
    groups: int

    def ready(self, m: Machine, s: Strand) -> bool:
        """Whether they have."""
        return not _missing(m, s, self.groups)

    def describe(self, m: Machine, s: Strand) -> str:
        """What a deadlock report says of it."""
        cta, warp = _missing(m, s, self.groups)[0]
        first = warp // WARPS * WARPS
        counts = warpgroups_of(m).committed[cta, first : first + WARPS].tolist()
        return (
            f"the products of warpgroup {warp // WARPS} ({m.recorder.places[self.op]}), of which its "
            f"warps have committed {counts} groups"
        )


def _missing(m: Machine, s: Strand, groups: int) -> list[tuple[int, int]]:
    """The active warps whose warpgroup has not issued all that they wait for."""
    state = warpgroups_of(m)
    found: list[tuple[int, int]] = []
    for cta, warp in active_warps(s).tolist():
        wanted = int(state.committed[cta, warp]) - groups
        if wanted > 0 and not state.issued(cta, warp, wanted):
            found.append((cta, warp))
    return found


def wait(m: Machine, s: Strand, groups: int, op: int, here: int) -> int | None:
    """Go on when all but the latest `groups` groups are over, else block at this step."""
    if _missing(m, s, groups):
        s.pc, s.waiting = here, AtProducts(op, groups)
        return BLOCKED
    state = warpgroups_of(m)
    for cta, warp in active_warps(s).tolist():
        wanted = int(state.committed[cta, warp]) - groups
        for number in range(int(state.landed[cta, warp]), wanted):
            _land(m, cta, warp, state.group(cta, warp, number))
        state.landed[cta, warp] = max(wanted, int(state.landed[cta, warp]))
    return None


def _land(m: Machine, cta: int, warp: int, group: Group) -> None:
    """A warp has waited for a group of its warpgroup; the first one that does ends its reads."""
    clocks = m.clocks
    assert isinstance(clocks, VectorClocks)
    if group.clock is None:
        group.clock = finish(m, cta, clocks.agents.products_of(warp), group.accesses)
        group.accesses.clear()
    clocks.learn(cta, warp, group.clock)
