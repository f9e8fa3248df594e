"""Puts `gpu.barrier` where a statement touches what another thread touched since the last one.

Works on the staged form, walking in program order with the accesses since the last barrier on any path;
loop bodies are walked twice, so that conflicts with the iteration before are seen. A barrier goes
before the conflicting op, or before the outermost op around it that threads may enter apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Block, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from phobos_nb.ir.dialects import gpu, tile
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.locations import place_of
from phobos_nb.lower import staged
from phobos_nb.lower.accesses import Access, accesses, example
from phobos_nb.lower.layout_types import is_tile
from phobos_nb.lower.layouts import WARP
from phobos_nb.lower.pipeline_loops import STAGES

REASON = "phobos.reason"
NUMBER = "phobos.barrier"
"""Attribute of a barrier: its number in the list of barriers."""


@dataclass(frozen=True)
class Barrier:
    """One barrier of the kernel, numbered in program order, or one that was found not to be needed.

    number: 1, 2, ... among those the analysis kept; 0 for an elided one. kept: whether it is in the
    code; a dropped one has its number and is not. line: of the statement it stands before.
    """

    number: int
    kept: bool
    reason: str
    line: int


def insert_barriers(kernel: KernelOp, drop: int | None = None) -> tuple[Barrier, ...]:
    """Insert the barriers in place; `drop` is the number of one to leave out on request."""
    walker = _Walker(kernel)
    walker.run()
    return (*_number(kernel, drop), *walker.elided.values())


class _Walker:
    def __init__(self, kernel: KernelOp) -> None:
        self._kernel = kernel
        self._threads = kernel.threads.value.data
        self._uniform = _uniform_blocks(kernel)
        self._again = False
        self.elided: dict[str, Barrier] = {}

    def run(self) -> None:
        self._block(self._kernel.body.block, {})

    def _block(self, block: Block, pending: _Pending) -> _Pending:
        """The accesses since the last barrier after the block, given those before it."""
        for op in list(block.ops):
            if isinstance(op, gpu.BarrierOp):
                pending = {}
            elif isinstance(op, scf.IfOp):
                branches = [self._block(b, dict(pending)) for r in op.regions for b in r.blocks]
                pending = _union([*branches, pending] if len(branches) < 2 else branches)
            elif isinstance(op, scf.ForOp) and STAGES in op.attributes:
                pending = self._pipelined(op, pending)
            elif isinstance(op, scf.ForOp | scf.WhileOp):
                pending = self._loop(op, pending)
            else:
                pending = self._op(op, pending)
        return pending

    def _loop(self, op: scf.ForOp | scf.WhileOp, pending: _Pending) -> _Pending:
        before, outer = pending, self._again
        for again in (outer, True):
            self._again = again
            for region in op.regions:
                pending = self._block(region.block, dict(pending))
            pending = _union([before, pending])
        self._again = outer
        return pending

    def _pipelined(self, op: scf.ForOp, pending: _Pending) -> _Pending:
        """A pipelined loop has one barrier, between the landing of a slice and its reading."""
        body = [inner for inner in op.body.block.ops if not isinstance(inner, gpu.BarrierOp)]
        for inner in body:
            for access in accesses(inner, self._threads):
                earlier = next((e for e in pending.values() if access.conflicts(e)), None)
                if earlier is not None:
                    self._insert(op, earlier, access)
                    pending = {}
        reads = [a for i in body if isinstance(i, staged.DotOp) for a in accesses(i, self._threads)]
        writes = [a for i in body if isinstance(i, staged.WriteOp) for a in accesses(i, self._threads)]
        first = next(inner for inner in body if isinstance(inner, staged.DotOp))
        self._insert(first, writes[0], reads[0])
        return {(id(a.op), i): a for i, a in enumerate(reads)}

    def _op(self, op: Operation, pending: _Pending) -> _Pending:
        found = list(accesses(op, self._threads))
        for access in found:
            for earlier in pending.values():
                if not access.conflicts(earlier):
                    continue
                if access.same_thread(earlier):
                    self._elide(earlier, access)
                    continue
                self._insert(op, earlier, access)
                pending = {}
                break
        return {**pending, **{(id(op), i): a for i, a in enumerate(found)}}

    def _insert(self, op: Operation, earlier: Access, access: Access) -> None:
        place = op
        while place.parent_block() not in self._uniform:
            around = place.parent_op()
            assert around is not None
            place = around
        barrier = gpu.BarrierOp()
        barrier.attributes[REASON] = StringAttr(_reason(earlier, access, self._again))
        barrier.location = op.location
        Rewriter.insert_op(barrier, InsertPoint.before(place))

    def _elide(self, earlier: Access, access: Access) -> None:
        reason = f"{access.name}: each thread meets only its own elements again (line {earlier.line})"
        self.elided.setdefault(reason, Barrier(0, False, reason, access.line))


_Pending = dict[tuple[int, int], Access]


def _union(states: Iterable[_Pending]) -> _Pending:
    merged: _Pending = {}
    for state in states:
        merged.update(state)
    return merged


def _reason(earlier: Access, access: Access, again: bool) -> str:
    """The sentence that says what would go wrong without the barrier."""
    first, then = earlier.kind.value, access.kind.value
    turn = " in the next iteration" if again and access.line <= earlier.line else ""
    at, to = f"line {earlier.line}", f"line {access.line}"
    if earlier.name == access.name:
        who, other = _lanes(earlier, access)
        return f"{access.name} is {first} by {who} at {at} and {then} by {other} at {to}{turn}"
    return (
        f"{earlier.name} is {first} at {at}, and {access.name}, in the same bytes, {then} at {to}{turn}"
    )


def _lanes(earlier: Access, access: Access) -> tuple[str, str]:
    """Two lanes, one of each access, that meet at an element, where the layouts tell."""
    threads = example(earlier, access)
    if threads is None:
        return "one thread", "another"
    first, second = (f"lane {t % WARP} of warp {t // WARP}" for t in threads)
    return first, second


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
        reason = op.attributes.setdefault(REASON, StringAttr("barrier() of the kernel"))
        assert isinstance(reason, StringAttr)
        op.attributes[NUMBER] = IntegerAttr(len(found) + 1, i64)
        place = place_of(op)
        found.append(Barrier(len(found) + 1, True, reason.data, place.line if place else 0))
        if drop == len(found):
            found[-1] = replace(found[-1], kept=False)
            op.detach()
            op.erase()
    return found
