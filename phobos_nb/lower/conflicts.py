"""Pairs of accesses that threads could make in the wrong order, given where barriers stand.

A kernel is walked in program order with the accesses since the last barrier on any path; loop bodies
are walked twice, so that an access meets those of the iteration before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Block, Operation

from phobos_nb.ir.dialects import gpu
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.fold import constant_value
from phobos_nb.lower import staged
from phobos_nb.lower.accesses import Access, accesses, how_they_meet
from phobos_nb.lower.layouts import WARP
from phobos_nb.lower.meetings import Meeting
from phobos_nb.lower.pipeline_loops import STAGES

Crossed = frozenset[Operation]
"""Loops that began another iteration since an access."""

_Pending = dict[tuple[Access, Crossed], None]
"""The accesses since the last barrier on any path, in the order in which they were met."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two accesses whose order matters, the earlier one before `crossed` loops began anew.

    meeting: how far apart the threads are that touch a common element.
    """

    earlier: Access
    later: Access
    crossed: Crossed
    meeting: Meeting


def is_pipelined(op: Operation) -> bool:
    """Whether an op is a loop whose copies run ahead; its barriers are its own."""
    return isinstance(op, scf.ForOp) and STAGES in op.attributes


class Conflicts:
    """The pairs of a kernel that no barrier separates."""

    def __init__(self, kernel: KernelOp) -> None:
        self._kernel = kernel
        self._threads = kernel.threads.value.data
        self._accesses: dict[Operation, list[Access]] = {}
        self._pairs: dict[tuple[Access, Access, Crossed], Pair] = {}

    def unordered(self, barriers: Collection[Operation], wanted: Collection[Meeting]) -> Iterator[Pair]:
        """The pairs of the `wanted` meetings, in program order, with barriers before these ops."""
        walk = _Walk(self, barriers, wanted)
        seen: set[Pair] = set()
        for pair in walk.block(self._kernel.body.block, {}):
            if pair not in seen:
                seen.add(pair)
                yield pair

    def of(self, op: Operation) -> list[Access]:
        """The accesses of one op."""
        if op not in self._accesses:
            self._accesses[op] = list(accesses(op, self._threads))
        return self._accesses[op]

    def pair(self, earlier: Access, later: Access, crossed: Crossed) -> Pair:
        """How two accesses meet that must be ordered."""
        key = earlier, later, crossed
        if key not in self._pairs:
            farthest = Meeting.CTA if self._threads > WARP else Meeting.WARP
            met = min(farthest, how_they_meet(earlier, later, crossed))
            self._pairs[key] = Pair(earlier, later, crossed, met)
        return self._pairs[key]


class _Walk:
    """One walk; `after` is what is pending where the last part of it ended."""

    def __init__(
        self, conflicts: Conflicts, barriers: Collection[Operation], wanted: Collection[Meeting]
    ) -> None:
        self._conflicts, self._barriers, self._wanted = conflicts, barriers, wanted
        self.after: _Pending = {}
        self._ends: dict[scf.IfOp, list[_Pending]] = {}

    def block(self, block: Block, pending: _Pending) -> Iterator[Pair]:
        self.after = pending
        for op in block.ops:
            if op in self._barriers or isinstance(op, gpu.BarrierOp):
                self.after = {}
            yield from self._op(op, self.after)

    def _op(self, op: Operation, pending: _Pending) -> Iterator[Pair]:
        if isinstance(op, scf.IfOp):
            yield from self._if(op, pending)
        elif isinstance(op, scf.WhileOp):
            yield from self._while(op, pending)
        elif isinstance(op, scf.ForOp):
            yield from self._pipelined(op, pending) if is_pipelined(op) else self._for(op, pending)
        else:
            found = self._conflicts.of(op)
            yield from self._meet(found, pending)
            self.after = _with(pending, found)

    def _meet(self, found: Iterable[Access], pending: _Pending) -> Iterator[Pair]:
        for access in found:
            for earlier, crossed in pending:
                if access.must_be_ordered(earlier):
                    pair = self._conflicts.pair(earlier, access, crossed)
                    if pair.meeting in self._wanted:
                        yield pair

    def _if(self, op: scf.IfOp, pending: _Pending) -> Iterator[Pair]:
        ends = [pending] if not op.false_region.blocks else []
        for region in op.regions:
            for block in region.blocks:
                yield from self.block(block, dict(pending))
                ends.append(self.after)
        self._ends[op] = ends
        self.after = _union(ends)

    def _for(self, op: scf.ForOp, pending: _Pending) -> Iterator[Pair]:
        entry = pending
        for _ in range(2):
            yield from self.block(op.body.block, dict(entry))
            entry = _union([pending, _crossing(self.after, op)])
        ends = [self.after] if _runs(op) else [pending, self.after]
        self.after = _leaving(_union(ends), op)

    def _while(self, op: scf.WhileOp, pending: _Pending) -> Iterator[Pair]:
        """The loop is left behind its condition."""
        entry, way = pending, _way_on(op)
        for _ in range(2):
            yield from self.block(op.before_region.block, dict(entry))
            barred = op.before_region.block.last_op in self._barriers
            on = self.after if way is None or barred else self._ends[way[0]][way[1]]
            yield from self.block(op.after_region.block, dict(on))
            entry = _union([pending, _crossing(self.after, op)])
        yield from self.block(op.before_region.block, dict(entry))
        self.after = _leaving(self.after, op)

    def _pipelined(self, op: scf.ForOp, pending: _Pending) -> Iterator[Pair]:
        """The loop's first copies go out before its own first barrier, its dots read after one."""
        copies: list[Access] = []
        reads: list[Access] = []
        for inner in op.body.block.ops:
            (reads if isinstance(inner, staged.DotOp) else copies).extend(self._conflicts.of(inner))
        yield from self._meet(copies, pending)
        self.after = _with({}, reads)


def _runs(loop: scf.ForOp) -> bool:
    """Whether a loop is known to run once at least."""
    first, stop = constant_value(loop.lb), constant_value(loop.ub)
    return first is not None and stop is not None and first < stop


def _way_on(loop: scf.WhileOp) -> tuple[scf.IfOp, int] | None:
    """The branch that a loop went through if it goes on: `a && b` is false where `b` was not asked."""
    condition = loop.before_region.block.last_op
    assert isinstance(condition, scf.ConditionOp)
    asked = condition.condition.owner
    if (
        not isinstance(asked, scf.IfOp)
        or asked.next_op is not condition
        or not asked.false_region.blocks
    ):
        return None
    number = next(i for i, result in enumerate(asked.results) if result is condition.condition)
    for branch, other in ((0, asked.false_region), (1, asked.true_region)):
        end = other.block.last_op
        if end is not None and constant_value(end.operands[number]) == 0:
            return asked, branch
    return None


def _with(pending: _Pending, found: Iterable[Access]) -> _Pending:
    nothing = Crossed()
    return {**pending, **{(access, nothing): None for access in found}}


def _union(states: Iterable[_Pending]) -> _Pending:
    merged: _Pending = {}
    for state in states:
        merged.update(state)
    return merged


def _crossing(pending: _Pending, loop: Operation) -> _Pending:
    """What is pending when a loop begins anew."""
    return {
        (access, crossed | {loop} if loop.is_ancestor(access.op) else crossed): None
        for access, crossed in pending
    }


def _leaving(pending: _Pending, loop: Operation) -> _Pending:
    """What is pending behind a loop, whose own values nothing can name there."""
    return {(access, crossed - {loop}): None for access, crossed in pending}


def sort_key(kernel: KernelOp) -> Callable[[Operation], int]:
    """The position of an op in program order."""
    positions = {op: i for i, op in enumerate(kernel.body.walk())}
    return lambda op: positions[op]
