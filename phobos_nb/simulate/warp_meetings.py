"""`bar.warp.sync`: lanes of one warp that meet, all of them or those of a mask.

PTX ISA, `bar.warp.sync`: a lane waits until all lanes of its mask have come with the same mask; one that
is not in its own mask is undefined. Lanes of one warp run in step here, so nobody waits: who has come is
counted, and whoever is still missing when the warp ends is reported.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phobos_nb.simulate.findings import report_lanes
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.proxies import clocks_of
from phobos_nb.simulate.strand import WARP, Strand
from phobos_nb.simulate.values import Ints, Value, is_array

ALL = (1 << WARP) - 1


@dataclass
class Pending:
    """A meeting of some lanes that not all have come to."""

    op: int
    arrived: int


@dataclass
class WarpMeetings:
    """The meetings that have begun, by CTA and warp and by mask."""

    pending: dict[tuple[int, int], dict[int, Pending]] = field(
        default_factory=dict[tuple[int, int], dict[int, Pending]]
    )


def meet(m: Machine, s: Strand, op: int, mask: Value) -> None:
    """The active lanes come to a meeting of the lanes that their masks name."""
    if s.mask is None and not is_array(mask) and mask & ALL == ALL:
        clocks_of(m).advance(s.cta[::WARP], s.warp[::WARP])
        return
    masks: Any = np.broadcast_to(np.asarray(mask, np.int64), (s.count,)) & ALL
    stray = (masks >> s.thread % WARP & 1) == 0
    stray = stray if s.mask is None else stray & s.mask
    if stray.any():
        lane = int(stray.argmax())
        text = f"a lane waits for the lanes of mask {int(masks[lane]):#x}, and is not one of them"
        report_lanes(m, s, "barrier_divergence", op, text, stray, lane)
    for first in (s.leaders // WARP * WARP).tolist():
        here = s.active[(s.active >= first) & (s.active < first + WARP)]
        for one in np.unique(masks[here]).tolist():
            _arrive(m, s, op, here[masks[here] == one], one)


def _arrive(m: Machine, s: Strand, op: int, lanes: Ints, mask: int) -> None:
    key = int(s.cta[lanes[0]]), int(s.warp[lanes[0]])
    begun = m.part(WarpMeetings).pending.setdefault(key, {})
    meeting = begun.setdefault(mask, Pending(op, 0))
    meeting.op = op
    for lane in (s.thread[lanes] % WARP).tolist():
        meeting.arrived |= 1 << lane
    if mask & ~meeting.arrived:
        return
    del begun[mask]
    if mask == ALL:
        clocks_of(m).publish(*key)
    else:
        clocks_of(m).publish_among(*key, [k for k in range(WARP) if mask >> k & 1])


def end(m: Machine, s: Strand) -> None:
    """A strand has ended: meetings that lanes of it never came to."""
    pending = m.part(WarpMeetings).pending
    for lane in s.leaders.tolist():
        for mask, meeting in pending.pop((int(s.cta[lane]), int(s.warp[lane])), {}).items():
            missing = [k for k in range(WARP) if (mask & ~meeting.arrived) >> k & 1]
            bad = np.zeros(s.count, np.bool_)
            bad[lane // WARP * WARP + np.array(missing)] = True
            text = f"lanes wait for all lanes of mask {mask:#x}, and these never come"
            report_lanes(m, s, "barrier_divergence", meeting.op, text, bad, int(bad.argmax()))
