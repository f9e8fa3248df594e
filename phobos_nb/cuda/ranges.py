"""What interval every integer of a thread-level function can take, and so how wide it must be.

Printed code uses 32-bit integers where the interval fits and 64-bit ones elsewhere: 64-bit address
arithmetic everywhere costs about one percent of a GEMM, 32-bit everywhere is wrong past 2^31
elements. Seeds are constants, thread and block ids, and the argument bounds in `phobos.assumes`,
which a launch check enforces: an argument named there is from 0 to its bound; the names `grid.x`,
`grid.y`, `grid.z` there bound the grid.

The analysis is one interval per SSA value (of a vector: of its elements), joined over repeated walks
of the function until nothing changes; a value that keeps growing is widened to the whole of its type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xdsl.dialects import gpu
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Block, Operation, Region, SSAValue

from phobos_nb.cuda import intervals
from phobos_nb.cuda.intervals import INT32, Interval, full
from phobos_nb.cuda.reading import element_type, integer, width

PATIENCE = 24
"""How often a value may grow before it is widened; more than the deepest ring of stages."""

GRID_LIMIT = {"x": (1 << 31) - 1, "y": 65535, "z": 65535}
"""The largest grid: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"."""

BLOCK_LIMIT = {"x": 1024, "y": 1024, "z": 64}
"""The largest CTA per axis, same table."""

LARGEST_CLUSTER = 16
"""CTAs of a cluster: CUDA C++ Programming Guide, "Thread Block Clusters" (8 unless more is allowed)."""

Binary = Callable[[Interval, Interval, int], Interval]

BINARY: dict[str, Binary] = {
    "arith.addi": intervals.add,
    "arith.subi": intervals.sub,
    "arith.muli": intervals.mul,
    "arith.divsi": intervals.divsi,
    "arith.divui": intervals.divui,
    "arith.floordivsi": intervals.floordivsi,
    "arith.ceildivsi": intervals.ceildivsi,
    "arith.ceildivui": intervals.ceildivui,
    "arith.remsi": intervals.remsi,
    "arith.remui": intervals.remui,
    "arith.minsi": intervals.minsi,
    "arith.maxsi": intervals.maxsi,
    "arith.minui": intervals.minui,
    "arith.maxui": intervals.maxui,
    "arith.andi": intervals.andi,
    "arith.ori": intervals.ori,
    "arith.xori": intervals.ori,
    "arith.shli": intervals.shli,
    "arith.shrsi": intervals.shrsi,
    "arith.shrui": intervals.shrui,
}

SAME_SIGNED = ("arith.index_cast", "arith.extsi", "arith.trunci")
"""Casts that keep the signed value where the new type holds it."""

SAME_UNSIGNED = ("arith.index_castui", "arith.extui")
"""Casts that keep the unsigned reading."""

JOINED = (
    "vector.broadcast",
    "vector.extract",
    "vector.insert",
    "vector.extract_strided_slice",
    "vector.insert_strided_slice",
    "vector.shape_cast",
    "vector.transpose",
    "vector.shuffle",
    "vector.from_elements",
    "vector.to_elements",
    "gpu.shuffle",
)
"""Operations whose results hold nothing but elements of their operands of the same type."""


class Ranges:
    """The intervals of one `gpu.func`.

    threads: CTA size; assumes: upper bounds of arguments by name and of the grid; names: the
    argument names in order; index_bits: width of `index`.
    """

    def __init__(
        self,
        body: Region,
        *,
        index_bits: int = 64,
        threads: int = 1024,
        names: Sequence[str] = (),
        assumes: Mapping[str, int] | None = None,
    ) -> None:
        self.index_bits = index_bits
        self.threads = threads
        self.found: dict[SSAValue, Interval] = {}
        self.growth: dict[SSAValue, int] = {}
        self.changed = False
        self.assumes = dict(assumes or {})
        self._seed(body.block, names)
        self._settle(body.block)

    def of(self, value: SSAValue) -> Interval:
        """Every value an integer SSA value (or element of a vector of them) can take, read signed."""
        return self.found.get(value) or full(self.bits(value))

    def bits(self, value: SSAValue) -> int:
        """The width of the value's type; `index` has the kernel's index width."""
        return width(element_type(value.type), self.index_bits)

    def narrow(self, value: SSAValue) -> bool:
        """Whether an `index` value may be held in 32 bits."""
        return self.index_bits == 32 or self.of(value).within(INT32)

    def _seed(self, block: Block, names: Sequence[str]) -> None:
        for name, argument in zip(names, block.args, strict=False):
            if isinstance(argument.type, IndexType | IntegerType) and name in self.assumes:
                self.found[argument] = Interval(0, self.assumes[name])

    def _settle(self, block: Block) -> None:
        self.changed = True
        while self.changed:
            self.changed = False
            self.walk(block)

    def walk(self, block: Block) -> None:
        """Go once over the operations of a block, and of the blocks in it."""
        for op in block.ops:
            transfer = STRUCTURED.get(op.name)
            if transfer is not None:
                transfer(self, op)
            else:
                self._plain(op)

    def note(self, value: SSAValue, interval: Interval) -> None:
        """Join an interval into a value's own; widen it when it has grown too often."""
        if not isinstance(element_type(value.type), IndexType | IntegerType):
            return
        old = self.found.get(value)
        new = interval if old is None else old.join(interval)
        if new == old:
            return
        self.changed = True
        self.growth[value] = self.growth.get(value, 0) + 1
        if self.growth[value] > PATIENCE:
            new = self._widened(value, new)
        self.found[value] = new

    def _widened(self, value: SSAValue, new: Interval) -> Interval:
        """Grow in two leaps, 32 bits and then the type, so that the walks come to an end."""
        fits = self.growth[value] <= 2 * PATIENCE and new.within(INT32)
        return INT32.join(new) if fits else full(self.bits(value))

    def _plain(self, op: Operation) -> None:
        for result in op.results:
            if isinstance(element_type(result.type), IndexType | IntegerType):
                self.note(result, self._result(op, result))

    def _result(self, op: Operation, result: SSAValue) -> Interval:
        bits = self.bits(result)
        binary = BINARY.get(op.name)
        if binary is not None:
            return binary(self.of(op.operands[0]), self.of(op.operands[1]), bits)
        if op.name in SAME_SIGNED:
            return self._signed_cast(op.operands[0], bits)
        if op.name in SAME_UNSIGNED:
            source = op.operands[0]
            return intervals.wrapped(intervals.unsigned(self.of(source), self.bits(source)), bits)
        if op.name in JOINED:
            return self._joined(op, result)
        row = SOURCES.get(op.name)
        return full(bits) if row is None else row(self, op)

    def _signed_cast(self, source: SSAValue, bits: int) -> Interval:
        found = self.of(source)
        if self.bits(source) == 1:  # one bit, read signed, is 0 or -1
            found = Interval(-found.hi, -found.lo)
        return found if bits == 1 and found.natural else intervals.wrapped(found, bits)

    def _joined(self, op: Operation, result: SSAValue) -> Interval:
        kind = element_type(result.type)
        same = [self.of(x) for x in op.operands if element_type(x.type) == kind]
        # Positions given as index operands only make the answer wider, never wrong.
        return _join_all(same) if same else full(self.bits(result))


def _join_all(found: Sequence[Interval]) -> Interval:
    return Interval(min(x.lo for x in found), max(x.hi for x in found))


def _constant(ranges: Ranges, op: Operation) -> Interval:
    value = op.properties["value"]
    if isinstance(value, IntegerAttr):
        number = integer(op.properties["value"])
        return (
            Interval(number & 1, number & 1)
            if ranges.bits(op.results[0]) == 1
            else Interval(number, number)
        )
    if isinstance(value, DenseIntOrFPElementsAttr):
        numbers = [int(x) for x in value.get_values()]
        return Interval(min(numbers), max(numbers))
    return full(ranges.bits(op.results[0]))


def _dimension(op: Operation) -> str:
    return str(cast(gpu.DimensionAttr, op.properties["dimension"]).data)


def _thread_id(ranges: Ranges, op: Operation) -> Interval:
    axis = _dimension(op)
    return Interval(0, (ranges.threads if axis == "x" else BLOCK_LIMIT[axis]) - 1)


def _block_dim(ranges: Ranges, op: Operation) -> Interval:
    axis = _dimension(op)
    return Interval(1, ranges.threads if axis == "x" else BLOCK_LIMIT[axis])


def _grid_limit(ranges: Ranges, axis: str) -> int:
    return min(GRID_LIMIT[axis], ranges.assumes.get(f"grid.{axis}", GRID_LIMIT[axis]))


def _block_id(ranges: Ranges, op: Operation) -> Interval:
    return Interval(0, max(0, _grid_limit(ranges, _dimension(op)) - 1))


def _grid_dim(ranges: Ranges, op: Operation) -> Interval:
    return Interval(1, max(1, _grid_limit(ranges, _dimension(op))))


def _lane_id(_ranges: Ranges, _op: Operation) -> Interval:
    return Interval(0, 31)


def _cluster_block_id(_ranges: Ranges, _op: Operation) -> Interval:
    return Interval(0, LARGEST_CLUSTER - 1)


def _cluster_dim_blocks(_ranges: Ranges, _op: Operation) -> Interval:
    return Interval(1, LARGEST_CLUSTER)


def _select(ranges: Ranges, op: Operation) -> Interval:
    """Join of the branches, each within what the condition says of it."""
    condition = op.operands[0].owner
    lhs, rhs = ranges.of(op.operands[1]), ranges.of(op.operands[2])
    if isinstance(condition, Operation) and condition.name == "arith.cmpi":
        found = (
            refine(ranges, condition, op.operands[1], lhs, holds=True),
            refine(ranges, condition, op.operands[2], rhs, holds=False),
        )
        possible = [x for x in found if x is not None]
        return _join_all(possible or [lhs, rhs])
    return lhs.join(rhs)


OPPOSITES = (("eq", "ne"), ("slt", "sge"), ("sle", "sgt"), ("ult", "uge"), ("ule", "ugt"))
INVERSE = {**dict(OPPOSITES), **{b: a for a, b in OPPOSITES}}

PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""The predicates of `arith.cmpi` by number."""


def refine(
    ranges: Ranges, condition: Operation, value: SSAValue, found: Interval, *, holds: bool
) -> Interval | None:
    """What is left of `found` for `value` where `condition` holds or not; None when nothing is.

    Only a condition that compares that very value says something of it.
    """
    if condition.operands[0] is not value:
        return found
    predicate = PREDICATES[integer(condition.properties["predicate"])]
    bound = ranges.of(condition.operands[1])
    predicate = predicate if holds else INVERSE[predicate]
    if predicate[0] == "u":
        if not (found.natural and bound.natural):
            return found
        predicate = "s" + predicate[1:]
    return _cut(found, predicate, bound)


def _cut(found: Interval, predicate: str, bound: Interval) -> Interval | None:
    lo, hi = found.lo, found.hi
    if predicate == "slt":
        hi = min(hi, bound.hi - 1)
    elif predicate == "sle":
        hi = min(hi, bound.hi)
    elif predicate == "sgt":
        lo = max(lo, bound.lo + 1)
    elif predicate == "sge":
        lo = max(lo, bound.lo)
    elif predicate == "eq":
        lo, hi = max(lo, bound.lo), min(hi, bound.hi)
    elif bound.lo == bound.hi:
        lo, hi = (lo + 1 if lo == bound.lo else lo), (hi - 1 if hi == bound.hi else hi)
    return Interval(lo, hi) if lo <= hi else None


SOURCES: dict[str, Callable[[Ranges, Operation], Interval]] = {
    "arith.constant": _constant,
    "arith.select": _select,
    "gpu.thread_id": _thread_id,
    "gpu.block_dim": _block_dim,
    "gpu.block_id": _block_id,
    "gpu.grid_dim": _grid_dim,
    "gpu.lane_id": _lane_id,
    "gpu.cluster_id": _block_id,
    "gpu.cluster_dim": _grid_dim,
    "gpu.cluster_block_id": _cluster_block_id,
    "gpu.cluster_dim_blocks": _cluster_dim_blocks,
}


def _pass_on(ranges: Ranges, sources: Sequence[SSAValue], targets: Sequence[SSAValue]) -> None:
    for source, target in zip(sources, targets, strict=True):
        ranges.note(target, ranges.of(source))


def _terminator(block: Block) -> Operation:
    last = block.last_op
    assert last is not None
    return last


def _for(ranges: Ranges, op: Operation) -> None:
    block = op.regions[0].block
    counter, *carried = block.args
    lower, upper = ranges.of(op.operands[0]), ranges.of(op.operands[1])
    ranges.note(counter, Interval(lower.lo, max(lower.lo, upper.hi - 1)))
    _pass_on(ranges, op.operands[3:], carried)
    ranges.walk(block)
    _pass_on(ranges, _terminator(block).operands, carried)
    _pass_on(ranges, carried, op.results)


def _if(ranges: Ranges, op: Operation) -> None:
    for region in op.regions:
        if region.blocks:
            ranges.walk(region.block)
            _pass_on(ranges, _terminator(region.block).operands, op.results)


def _while(ranges: Ranges, op: Operation) -> None:
    before, after = (region.block for region in op.regions)
    _pass_on(ranges, op.operands, before.args)
    ranges.walk(before)
    passed = _terminator(before).operands[1:]
    _pass_on(ranges, passed, after.args)
    _pass_on(ranges, passed, op.results)
    ranges.walk(after)
    _pass_on(ranges, _terminator(after).operands, before.args)


STRUCTURED: dict[str, Callable[[Ranges, Operation], None]] = {
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
}
