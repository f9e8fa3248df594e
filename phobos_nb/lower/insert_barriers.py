"""Puts `gpu.barrier` where threads touch what others touched since the last one.

Works on the staged form. A barrier goes before the access that needs it, or before the outermost op
around it that threads may enter apart; then barriers that others make superfluous are taken out, and
those that can stand outside a loop or before both branches of an `if` are moved there. Where only lanes
of one warp meet and no barrier of the CTA stands between, the warp waits for itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Block, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from phobos_nb.ir.dialects import gpu, tile
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.locations import place_of
from phobos_nb.lower import staged
from phobos_nb.lower.barrier_reasons import elision, reason
from phobos_nb.lower.conflicts import Conflicts, Crossed, Pair, is_pipelined, sort_key
from phobos_nb.lower.distances import loops_around
from phobos_nb.lower.layout_types import is_tile
from phobos_nb.lower.meetings import Meeting

NUMBER = "phobos.barrier"
"""Attribute of a barrier: its number in the list of barriers."""

SCOPE = "phobos.scope"
"""Attribute of a barrier of each warp alone: "warp"."""

NEEDED = frozenset({Meeting.CTA})
"""The meetings that a barrier of the CTA is for; `Meeting.WARP` takes one of each warp."""


@dataclass(frozen=True)
class Barrier:
    """One barrier of the kernel, numbered in program order, or one that was found not to be needed.

    number: 1, 2, ... among those the analysis kept; 0 for an elided one. kept: whether it is in the
    code; a dropped one has its number and is not. line: of the statement it stands before. scope: whose
    threads wait for each other, "CTA" or "warp".
    """

    number: int
    kept: bool
    reason: str
    line: int
    scope: str = "CTA"


def insert_barriers(
    kernel: KernelOp, drop: int | None = None, needed: Collection[Meeting] = NEEDED
) -> tuple[Barrier, ...]:
    """Insert the barriers in place; `drop` is the number of one to leave out on request."""
    conflicts = Conflicts(kernel)
    of_cta = Placement(kernel, conflicts, needed)
    whole = of_cta.choose()
    of_warp = Placement(kernel, conflicts, frozenset({Meeting.WARP}) - frozenset(needed), whole)
    own = of_warp.choose()
    elided = _elided(conflicts, [*whole, *own], needed)
    pairs = {place: of_cta.for_whom(whole, place) for place in whole}
    pairs |= {place: of_warp.for_whom(own, place) for place in own}
    for place, pair in pairs.items():
        _insert(place, pair)
    for op in list(kernel.body.walk()):
        if is_pipelined(op):
            assert isinstance(op, scf.ForOp)
            _insert_in_pipeline(op, conflicts)
    return (*_number(kernel, drop), *elided)


class Placement:
    """The choice of the ops that barriers stand before, beside the `given` ones."""

    def __init__(
        self,
        kernel: KernelOp,
        conflicts: Conflicts,
        needed: Collection[Meeting],
        given: Collection[Operation] = (),
    ) -> None:
        self._conflicts, self._needed, self._given = conflicts, needed, given
        self._uniform = _uniform_blocks(kernel)
        self._position = sort_key(kernel)

    def choose(self) -> list[Operation]:
        """As few as these rules find, each in as few loops."""
        chosen = self._as_met()
        chosen = self._outwards(self._thinned(chosen))
        return sorted(self._thinned(chosen), key=self._position)

    def for_whom(self, chosen: Collection[Operation], place: Operation) -> Pair:
        """The first pair that nothing but the barrier at a place keeps in order."""
        return next(self._pairs([p for p in chosen if p is not place]))

    def _pairs(self, chosen: Collection[Operation]) -> Iterator[Pair]:
        return self._conflicts.unordered([*self._given, *chosen], self._needed)

    def enough(self, chosen: Collection[Operation]) -> bool:
        """Whether barriers before these ops order everything."""
        return next(self._pairs(chosen), None) is None

    def _as_met(self) -> list[Operation]:
        """Each as late as its pair allows, which is right for straight code."""
        chosen: list[Operation] = []
        while (pair := next(self._pairs(chosen), None)) is not None:
            place = self._place(pair.later.op)
            assert place not in chosen, (
                f"a barrier before {place.name} does not help {pair.later.op.name}"
            )
            chosen.append(place)
        return chosen

    def may_stand_before(self, op: Operation) -> bool:
        """Whether all threads come to an op together, outside of what pipelines itself."""
        around = op.parent_op()
        pipelined = around is not None and is_pipelined(around)
        return op.parent_block() in self._uniform and not pipelined

    def _place(self, op: Operation) -> Operation:
        """The op, or the outermost one around it that threads may enter apart."""
        place = op
        while not self.may_stand_before(place):
            around = place.parent_op()
            assert around is not None
            place = around
        return place

    def _thinned(self, chosen: list[Operation]) -> list[Operation]:
        """Without those that the others make superfluous, innermost first."""
        for place in sorted(chosen, key=self._innermost_first):
            rest = [p for p in chosen if p is not place]
            if self.enough(rest):
                chosen = rest
        return chosen

    def _innermost_first(self, place: Operation) -> tuple[int, int, int]:
        return -len(loops_around(place)), -len(_ifs_around(place)), self._position(place)

    def _outwards(self, chosen: list[Operation]) -> list[Operation]:
        """Each before or behind the outermost loop where it serves as well; one for two branches."""
        for place in chosen:
            rest = [p for p in chosen if p is not place]
            for other in self._outside(place):
                if self.enough([*rest, other]):
                    chosen = [*rest, other]
                    break
        return self._before_branches(chosen)

    def _outside(self, place: Operation) -> list[Operation]:
        """The places before and behind the loops around a place, outermost first."""
        found: list[Operation] = []
        for loop in reversed(loops_around(place)):
            if loop.parent_block() in self._uniform:
                found += [op for op in (loop, loop.next_op) if op is not None]
        return found

    def _before_branches(self, chosen: list[Operation]) -> list[Operation]:
        """Before an `if`, where both branches have a barrier that one there makes superfluous."""
        around = {op for place in chosen for op in _ifs_around(place)}
        for branch in sorted(around, key=self._position, reverse=True):
            fewer = self._thinned([*chosen, branch]) if branch not in chosen else chosen
            sides = [
                any(region.is_ancestor(p) for p in chosen if p not in fewer)
                for region in branch.regions
                if region.blocks
            ]
            if branch in fewer and len(sides) == 2 and all(sides):
                chosen = fewer
        return chosen


def _ifs_around(op: Operation) -> list[scf.IfOp]:
    found: list[scf.IfOp] = []
    around = op.parent_op()
    while around is not None:
        if isinstance(around, scf.IfOp):
            found.append(around)
        around = around.parent_op()
    return found


def _insert(place: Operation, pair: Pair) -> None:
    barrier = gpu.BarrierOp()
    barrier.attributes[gpu.REASON] = StringAttr(reason(pair))
    if pair.meeting is Meeting.WARP:
        barrier.attributes[SCOPE] = StringAttr("warp")
    barrier.location = place.location
    Rewriter.insert_op(barrier, InsertPoint.before(place))


def _insert_in_pipeline(loop: scf.ForOp, conflicts: Conflicts) -> None:
    """A pipelined loop has one barrier, between the landing of a slice and its reading."""
    body = list(loop.body.block.ops)
    dots = [op for op in body if isinstance(op, staged.DotOp)]
    writes = [a for op in body if isinstance(op, staged.WriteOp) for a in conflicts.of(op)]
    reads = [a for dot in dots for a in conflicts.of(dot)]
    write, read = next((w, r) for w in writes for r in reads if r.must_be_ordered(w))
    _insert(dots[0], Pair(write, read, Crossed(), Meeting.CTA))


def _elided(
    conflicts: Conflicts, chosen: Collection[Operation], needed: Collection[Meeting]
) -> list[Barrier]:
    """What a barrier would stand for that knew no threads, one for each sentence."""
    found: dict[str, Barrier] = {}
    for pair in conflicts.unordered(
        chosen, frozenset({Meeting.NEVER, Meeting.THREAD}) - frozenset(needed)
    ):
        why = elision(pair)
        found.setdefault(why, Barrier(0, False, why, pair.later.line))
    return list(found.values())


def _uniform_blocks(kernel: KernelOp) -> set[Block | None]:
    """The blocks that all threads of the CTA run together: those around a tile op, and the body."""
    blocks: set[Block | None] = {kernel.body.block}
    for op in kernel.body.walk():
        collective = isinstance(op, gpu.BarrierOp | tile.StoreOp) or any(is_tile(r) for r in op.results)
        around = op.parent_block() if collective else None
        while around is not None and around not in blocks:
            blocks.add(around)
            around = around.parent_op().parent_block() if around.parent_op() else None  # pyright: ignore[reportOptionalMemberAccess]
    return blocks


def _number(kernel: KernelOp, drop: int | None) -> list[Barrier]:
    found: list[Barrier] = []
    for op in list(kernel.body.walk()):
        if not isinstance(op, gpu.BarrierOp):
            continue
        why = op.attributes.setdefault(gpu.REASON, StringAttr("barrier() of the kernel"))
        assert isinstance(why, StringAttr)
        op.attributes[NUMBER] = IntegerAttr(len(found) + 1, i64)
        place = place_of(op)
        scope = "warp" if SCOPE in op.attributes else "CTA"
        found.append(Barrier(len(found) + 1, True, why.data, place.line if place else 0, scope))
        if drop == len(found):
            found[-1] = replace(found[-1], kept=False)
            op.detach()
            op.erase()
    return found
