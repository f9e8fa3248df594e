"""The barrier of the whole CTA: counted, and divergence at it reported."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.program_points import BLOCKED
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.trace import ACCESSES, trace_operation
from phobos_nb.simulate.values import Ints


@dataclass(frozen=True)
class AtBarrier:
    """What a strand waits for: the other warps of its CTAs at a `gpu.barrier`."""

    op: int

    def ready(self, m: Machine, s: Strand) -> bool:
        """Never by itself: `release` looks at all strands together."""
        del m, s
        return False

    def describe(self, m: Machine, s: Strand) -> str:
        """What a deadlock report says of it."""
        del s
        return f"the barrier of the CTA ({m.recorder.places[self.op]})"


def arrive(m: Machine, s: Strand, op: int, following: int) -> int | None:
    """A strand reaches a barrier: pass it if that is everybody, else wait."""
    check_divergence(m, s, op)
    trace_operation(m, s, op, "barrier", ACCESSES)
    if s.count == len(m.ctas) * m.shape.threads:
        pass_barrier(m, s.active_ctas, op, whole=s.mask is None)
        return None
    s.waiting = AtBarrier(op)
    s.pc = following
    return BLOCKED


def check_divergence(m: Machine, s: Strand, op: int) -> None:
    """Report the CTAs of which only some threads of a strand reach a barrier."""
    if s.mask is None:
        return
    reached = np.bincount(s.cta[s.mask], minlength=len(m.ctas))
    present = np.bincount(s.cta, minlength=len(m.ctas))
    torn = (reached > 0) & (reached < present)
    if not torn.any():
        return
    cta = int(torn.argmax())
    missing = np.flatnonzero((s.cta == cta) & ~s.mask)
    count = int((torn[s.cta] & ~s.mask).sum())
    lane = int(missing[0])
    text = (
        f"only {int(reached[cta])} of {int(present[cta])} threads reach this barrier; "
        f"thread {int(s.thread[lane])} does not"
    )
    m.recorder.fault("barrier_divergence", op, text, m.cta_of(s, lane), int(s.thread[lane]), count=count)


def pass_barrier(m: Machine, ctas: Ints, op: int, *, whole: bool) -> None:
    """All warps of some CTAs have met."""
    m.clocks.barrier(ctas)
    m.recorder.barrier(op, len(ctas))
    if whole and m.shared_shadow is not None:
        m.shared_shadow.ordered_everywhere()


def release(m: Machine, waiting: list[Strand], running: list[Strand]) -> list[Strand]:
    """The strands at barriers that everybody of their CTAs has reached; they may go on.

    A strand holds several CTAs in step, so it goes on when that is true of all of them.
    """
    ready = [s for s in waiting if isinstance(s.waiting, AtBarrier)]
    others = [s for s in [*waiting, *running] if s not in ready]
    while ready:
        open_ = {int(c) for s in others for c in s.active_ctas}
        late = [s for s in ready if open_.intersection(s.active_ctas.tolist())]
        if not late:
            break
        others += late
        ready = [s for s in ready if s not in late]
    if ready:
        _release(m, ready)
    return ready


def _release(m: Machine, ready: list[Strand]) -> None:
    ops = sorted({s.waiting.op for s in ready})
    ctas = np.unique(np.concatenate([s.active_ctas for s in ready]))
    if len(ops) > 1:
        s = next(s for s in ready if s.waiting.op == ops[1])
        text = f"threads of one CTA wait at different barriers: the other is {m.recorder.places[ops[0]]}"
        m.recorder.fault("barrier_divergence", ops[1], text, m.cta_of(s, 0), int(s.thread[0]))
    _check_missing(m, ready, ctas, ops[0])
    total = sum(s.count for s in ready)
    whole = total == len(m.ctas) * m.shape.threads and all(s.mask is None for s in ready)
    pass_barrier(m, ctas, ops[0], whole=whole)
    for s in ready:
        s.waiting = None


def _check_missing(m: Machine, ready: list[Strand], ctas: Ints, op: int) -> None:
    """Report CTAs some of whose threads have ended without reaching the barrier."""
    present = sum(np.bincount(s.cta, minlength=len(m.ctas)) for s in ready)
    short = [c for c in ctas.tolist() if int(np.asarray(present)[c]) < m.shape.threads]
    if short:
        there = np.concatenate([s.thread[s.cta == short[0]] for s in ready])
        missing = int(np.setdiff1d(np.arange(m.shape.threads), there)[0])
        cta = m.shape.coordinates(int(m.ctas[short[0]]))
        text = f"thread {missing} has ended and never reaches this barrier"
        m.recorder.fault("barrier_divergence", op, text, cta, missing, count=len(short))
