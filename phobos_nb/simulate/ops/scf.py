"""Rows of the dialect `scf`: structured control flow as jumps, with masks where lanes diverge.

A condition that all active lanes share is a jump. One that differs runs both ways under masks. Where
code that blocks (a barrier, a wait) is entered by whole warps only, the strand splits instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region

from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.ops.guards import Guard, guards_of
from phobos_nb.simulate.ops.loops import for_row, while_row
from phobos_nb.simulate.program import Decoder, Label, Row, Step, dtype_of
from phobos_nb.simulate.program_points import SPLIT
from phobos_nb.simulate.strand import WARP, Frame, Strand
from phobos_nb.simulate.undecided import branch_check
from phobos_nb.simulate.values import Bools, Ints, Value, choose, is_array, take

WAITS = {
    "nvgpu.mbarrier.try_wait.parity",
    "nvgpu.mbarrier.test.wait",
    "nvvm.barrier",
    "nvvm.cluster.wait",
    "nvvm.setmaxregister",
}
"""Operations at which a warp may wait for another one that goes a different way."""


@dataclass
class IfFrame:
    """A diverged `scf.if`: the mask outside, the condition, and what the first branch yielded."""

    mask: Bools | None
    condition: Bools
    yielded: list[Value]

    def select(self, lanes: Ints, count: int) -> Frame:
        """The part of some lanes."""
        return IfFrame(
            None if self.mask is None else self.mask[lanes],
            self.condition[lanes],
            [take(v, lanes, count) for v in self.yielded],
        )


def if_row(d: Decoder, op: Operation) -> None:
    """Decode both branches, one after the other, with a step at the end of each."""
    assert isinstance(op, scf.IfOp)
    results = d.slots(op.output)
    kinds = [dtype_of(v.type) for v in op.output]
    second, end = Label(), Label()
    index = d.op
    guards: list[Guard] = []
    d.emit(_begin(d, op, second, guards))
    first = len(d.program.places)
    yields = _branch(d, op.true_region)
    guards += guards_of(d, op, range(first, len(d.program.places)))
    d.resume(index)
    d.emit(_first_end(results, yields, second, end))
    second.pc = d.here
    yields = _branch(d, op.false_region)
    d.resume(index)
    d.emit(_second_end(results, yields, kinds))
    end.pc = d.here


def _branch(d: Decoder, region: Region) -> list[int]:
    """Decode a branch; the slots of what it yields."""
    if not region.blocks:
        return []
    last = d.block(region.block)
    return [] if last is None else d.slots(last.operands)


def _begin(d: Decoder, op: scf.IfOp, second: Label, guards: list[Guard]) -> Step:
    """Ask; `guards` is filled once the branches are decoded."""
    condition, here = d.slot(op.cond), d.here
    waits, index = contains(op, WAITS), d.op
    barriers = contains(op, {"gpu.barrier"})
    check = branch_check(d.program.operations, op.cond, index)

    def step(m: Machine, s: Strand) -> int | None:
        c = s.values[condition]
        if check is not None:
            check(m, s)
        for guard in guards:
            guard.count(m, s, c)
        if not is_array(c):
            s.frames.append(None)
            return None if c else second.pc
        live = c if s.mask is None else c & s.mask
        entering = int(live.sum())
        active = s.count if s.mask is None else int(s.mask.sum())
        if not entering:
            s.frames.append(None)
            return second.pc
        if entering == active:
            s.frames.append(None)
            return None
        if (waits or (barriers and _apart(m, s))) and parts_warps(c, s):
            s.pc = here
            m.strands.extend(s.split(whole_warps(c, s)))
            return SPLIT
        s.frames.append(IfFrame(s.mask, c, []))
        s.set_mask(live)
        return None

    return step


def _apart(m: Machine, s: Strand) -> bool:
    """Whether warps of the strand's CTAs run elsewhere, so that its CTAs meet them one by one."""
    return s.count < len(np.unique(s.cta)) * m.shape.threads


def parts_warps(condition: Bools, s: Strand) -> bool:
    """Whether some warps have an active lane that meets the condition and others have none."""
    return not whole_warps(condition, s).all()


def whole_warps(condition: Bools, s: Strand) -> Bools:
    """The lanes of the warps of which an active lane meets the condition."""
    live = condition if s.mask is None else condition & s.mask
    return np.repeat(live.reshape(-1, WARP).any(1), WARP)


def contains(op: Operation, names: set[str]) -> bool:
    """Whether an operation of one of these names is inside."""
    return any(o.name in names for o in op.walk())


def _first_end(results: list[int], yields: list[int], second: Label, end: Label) -> Step:
    def step(m: Machine, s: Strand) -> int:
        v = s.values
        frame: Any = s.frames[-1]
        values = [v[y] for y in yields]
        if frame is None:
            s.frames.pop()
            for r, value in zip(results, values, strict=False):
                v[r] = value
            return end.pc
        frame.yielded = values
        outside = ~frame.condition
        s.set_mask(outside if frame.mask is None else outside & frame.mask)
        return second.pc

    return step


def _second_end(results: list[int], yields: list[int], kinds: list[Any]) -> Step:
    def step(m: Machine, s: Strand) -> None:
        v = s.values
        frame: Any = s.frames.pop()
        values = [v[y] for y in yields]
        if frame is None:
            for r, value in zip(results, values, strict=True):
                v[r] = value
            return
        for r, yes, no, kind in zip(results, frame.yielded, values, kinds, strict=True):
            v[r] = choose(frame.condition, yes, no, kind)
        s.set_mask(frame.mask)

    return step


def _execute_region(d: Decoder, op: Operation) -> None:
    block: Block = op.regions[0].block
    last = d.block(block)
    if last is None:
        return
    moves = list(zip(d.slots(op.results), d.slots(last.operands), strict=True))

    def step(m: Machine, s: Strand) -> None:
        for r, y in moves:
            s.values[r] = s.values[y]

    d.emit(step)


ROWS: dict[str, Row] = {
    "scf.if": if_row,
    "scf.for": for_row,
    "scf.while": while_row,
    "scf.execute_region": _execute_region,
}
