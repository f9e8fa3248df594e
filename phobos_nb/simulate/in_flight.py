"""Registers that asynchronous products read and write: touched too early, or written without a fence.

Note [Register fences]
A vector that an ordinary operation wrote may be given to a product only when a `wgmma.fence` came after
the writing. A vector that a product wrote may go on to the next one as it is, and may be read when a
wait has covered its group. A fragment that a product reads may be written anew, which is what an
operation does that runs again, only after such a wait (PTX ISA, "wgmma.fence" and "wgmma.wait_group").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from xdsl.dialects import scf
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from phobos_nb.ir.dialects.wgmma import WgmmaFenceOp, WgmmaOp, WgmmaWaitOp
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.program import Program, Step
from phobos_nb.simulate.records import RaceKind
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.value_flow import flows, origins
from phobos_nb.simulate.values import Ints
from phobos_nb.simulate.warpgroups import active_warps, warpgroups_of


class InFlight(np.ndarray[Any, np.dtype[Any]]):
    """An accumulator: `group` [ctas, warps] is the number of the group that last wrote it, `op` who did.

    Views and parts of it keep both.
    """

    group: Ints
    op: int

    def __array_finalize__(self, other: Any) -> None:
        if isinstance(other, InFlight):
            self.group, self.op = other.group, other.op


def in_flight(values: Any, group: Ints, op: int) -> InFlight:
    """A product's result as an accumulator in flight."""
    made = values.view(InFlight)
    made.group, made.op = group, op
    return made


class Births:
    """What is known of the results of operations, by their index; arrays are [ctas, warps].

    fences: how many fences each warp had made when it last wrote it. readers: the product that reads
    it last, and the number of that one's group, -1 for none.
    """

    def __init__(self) -> None:
        self.fences: dict[int, Ints] = {}
        self.readers: dict[int, tuple[int, Ints]] = {}


class RegisterWatch:
    """Which operations of a kernel write what products are given, and which read what they return."""

    def __init__(self, kernel: Operation, program: Program) -> None:
        self.program = program
        products = [op for op in kernel.walk() if isinstance(op, WgmmaOp)]
        given = [v for op in products for v in (op.acc, op.a) if v is op.acc or op.a_in_registers]
        self.writers = {id(v): list(_writers(v)) for v in given}
        self.watched = {op for found in self.writers.values() for op in found}
        self.flying = set(_derived([op.result for op in products]))
        self.index: dict[Operation, int] = {}

    def wrap(self, op: Operation, index: int, step: Step) -> Step:
        """The step of an operation, with what has to be noted or checked around it."""
        self.index[op] = index
        read = [] if isinstance(op, WgmmaFenceOp | WgmmaWaitOp) else self._read(op)
        if read:
            step = _checked(step, [self.program.slot_of[v] for v in read], index)
        return _noted(step, index) if op in self.watched else step

    def _read(self, op: Operation) -> list[SSAValue]:
        passed = op.acc if isinstance(op, WgmmaOp) else None
        return [v for v in op.operands if v in self.flying and v is not passed]

    def check_fences(self, m: Machine, s: Strand, value: SSAValue, op: int) -> None:
        """Report writers of a product's operand since which its warp has made no fence."""
        state, births = warpgroups_of(m), m.part(Births)
        for writer in self.writers[id(value)]:
            index = self.index.get(writer)
            born = None if index is None else births.fences.get(index)
            if index is None or born is None:
                continue
            warps = active_warps(s)
            late = state.fences[warps[:, 0], warps[:, 1]] <= born[warps[:, 0], warps[:, 1]]
            _report(m, s, "missing wgmma fence", (index, op), warps[late])

    def note_reader(self, m: Machine, s: Strand, value: SSAValue, op: int) -> None:
        """A product reads a fragment from here on until its group is over."""
        state, births = warpgroups_of(m), m.part(Births)
        warps = active_warps(s)
        at = warps[:, 0], warps[:, 1]
        for writer in self.writers[id(value)]:
            index = self.index.get(writer)
            if index is not None:
                none = np.full(state.committed.shape, -1, np.int64)
                _, groups = births.readers.get(index, (op, none))
                groups[at] = state.committed[at]
                births.readers[index] = (op, groups)


def _noted(step: Step, index: int) -> Step:
    def run(m: Machine, s: Strand) -> int | None:
        following = step(m, s)
        state, births = warpgroups_of(m), m.part(Births)
        reader = births.readers.get(index)
        if reader is not None:
            warps = active_warps(s)
            at = warps[:, 0], warps[:, 1]
            early = (reader[1][at] >= 0) & (state.landed[at] <= reader[1][at])
            _report(m, s, "registers in flight", (reader[0], index), warps[early])
        born = births.fences.setdefault(index, np.full(state.fences.shape, -1, np.int64))
        warps = active_warps(s)
        born[warps[:, 0], warps[:, 1]] = state.fences[warps[:, 0], warps[:, 1]]
        return following

    return run


def _checked(step: Step, slots: list[int], index: int) -> Step:
    def run(m: Machine, s: Strand) -> int | None:
        for slot in slots:
            value = s.values[slot]
            if isinstance(value, InFlight):
                warps = active_warps(s)
                at = warps[:, 0], warps[:, 1]
                early = warpgroups_of(m).landed[at] <= value.group[at]
                _report(m, s, "registers in flight", (value.op, index), warps[early])
        return step(m, s)

    return run


def _report(m: Machine, s: Strand, kind: RaceKind, ops: tuple[int, int], warps: Ints) -> None:
    if not m.watch.races or not len(warps):
        return
    cta, warp = warps[0].tolist()
    lane = int(np.flatnonzero((s.cta == cta) & (s.warp == warp))[0])
    ctas, thread = m.cta_of(s, lane), int(s.thread[lane])
    m.recorder.race(kind, ops, (ctas, ctas), (thread, thread), "registers", (), 32 * len(warps))


def _writers(value: SSAValue) -> Iterator[Operation]:
    """The ordinary operations that may have written a vector, through loops and branches."""
    seen: set[SSAValue] = set()
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if found in seen:
            continue
        seen.add(found)
        op = found.owner
        if isinstance(op, WgmmaOp | WgmmaFenceOp):
            continue
        if isinstance(op, WgmmaWaitOp):
            assert isinstance(found, OpResult)
            waiting.append(op.accumulators[found.index])
        elif isinstance(found, BlockArgument) or isinstance(op, scf.ForOp | scf.IfOp | scf.WhileOp):
            waiting += origins(found)
        elif isinstance(op, Operation):
            yield op


def _derived(starts: list[SSAValue]) -> list[SSAValue]:
    """The values that hold the same registers: through waits, fences, loops and branches."""
    found: list[SSAValue] = []
    waiting = list(starts)
    while waiting:
        value = waiting.pop()
        if value in found:
            continue
        found.append(value)
        for use in value.uses:
            op = use.operation
            if isinstance(op, WgmmaFenceOp | WgmmaWaitOp):
                waiting.append(op.passed[use.index])
            else:
                parent = op.parent_op() if isinstance(op, scf.YieldOp | scf.ConditionOp) else op
                waiting += [target for source, target in flows(parent) if source is value]
    return found
