"""Products of a matrix with a vector: every thread multiplies what it loads, and all add up at the end.

Note [Matrix times vector]
Where one side of a `dot` is a single row or column, each element of the other side is used once: going
through shared memory gains nothing, what counts are bytes under way. A loop that only loads and
accumulates such dots becomes one that carries a tile of partial sums as large as what it loads:

    acc += dot(a, b)   ->   parts = fma(a, stretched b, parts) in the loop, acc += sum of parts after it

Loads are spread over the threads for the widest accesses, with no barrier; one iteration takes SLICES
k-slices as one, so that a thread has `UNDER_WAY` bytes of loads in flight. Slots are added in order,
then lanes and warps as a tree: deterministic, and closer to pairwise summation than a running sum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, TensorType, UnitAttr, f32, f64, i64
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, SSAValue

from phobos_nb.ir.bounds import SLICED, SLICES
from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.shapes import is_float
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.dialects.tile_memory import flags
from phobos_nb.ir.fold import constant_value
from phobos_nb.ir.locations import place_of
from phobos_nb.lower.accumulating import does_more
from phobos_nb.lower.choices import LONGEST
from phobos_nb.lower.coefficient import coefficient
from phobos_nb.lower.distribute_box import AT_ONCE
from phobos_nb.lower.layout_types import byte_width, element, shape
from phobos_nb.lower.loop_report import LoopReport

SUMMED = "phobos.summed"
"""Attribute of a loop that carries partial sums; its results are only read by reductions."""

MODE = "direct"
"""`LoopReport.mode` of such a loop."""

UNDER_WAY = 256
"""Bytes that a thread loads in one iteration: 64 KB for 256 threads, four times what an H200 needs in
flight on an SM to keep its memory busy (19 bytes a cycle for some 800 cycles)."""


def direct_loops(kernel: KernelOp, constants: Mapping[str, int]) -> tuple[LoopReport, ...]:
    """Rewrite the eligible loops in place; one report for each."""
    reports: list[LoopReport] = []
    if not constants.get("DIRECT", 1):
        return ()
    for loop in [op for op in kernel.body.walk() if isinstance(op, scf.ForOp)]:
        dots = [op for op in loop.body.block.ops if isinstance(op, tile.DotOp)]
        if dots and not _obstacle(loop, dots):
            slices = _slices(loop, dots, kernel.threads.value.data, constants)
            place = place_of(loop)
            _Rewrite(loop, slices).run()
            reports.append(LoopReport(place.line if place else 0, slices, MODE, ""))
    return tuple(reports)


@dataclass(frozen=True)
class _Sides:
    """A thin dot: the matrix and its k axis, the vector and its k axis."""

    matrix: SSAValue
    deep: int
    vector: SSAValue
    vector_deep: int


def _sides(dot: tile.DotOp) -> _Sides | None:
    rows, columns = shape(dot.acc)
    a_deep, b_deep = dot.deep
    if columns == 1:
        return _Sides(dot.a, a_deep, dot.b, b_deep)
    return _Sides(dot.b, b_deep, dot.a, a_deep) if rows == 1 else None


def _obstacle(loop: scf.ForOp, dots: list[tile.DotOp]) -> str:
    if does_more(loop):
        return does_more(loop)
    for dot in dots:
        operands = [v.owner for v in (dot.a, dot.b)]
        if _sides(dot) is None:
            return "a dot has several rows and columns"
        if not is_float(element(dot.a)) or element(dot.acc) != _sums(element(dot.a)):
            return "the sums are narrower than they are made, or integers"
        if any(not isinstance(op, tile.LoadOp) or op.parent is not loop.body.block for op in operands):
            return "an operand is not loaded in the loop"
        if any(op.pad is not None for op in operands if isinstance(op, tile.LoadOp)):
            return "a load fills with something of its own"
    return ""


def _sums(operand: object) -> object:
    return f64 if operand == f64 else f32


def _slices(loop: scf.ForOp, dots: list[tile.DotOp], threads: int, constants: Mapping[str, int]) -> int:
    """K-slices of an iteration: the caller's number, else what fills `UNDER_WAY`; 1 where apart."""
    if any(not _adjacent(loop, dot) for dot in dots):
        return 1
    loaded = {s.matrix: s for d in dots if (s := _sides(d))}
    bytes_each = sum(math.prod(shape(v)) * byte_width(element(v)) for v in loaded)
    depth = max(shape(s.matrix)[s.deep] for s in loaded.values())
    most = max(1, LONGEST // depth)
    room = max(1, UNDER_WAY * threads // bytes_each)
    wanted = constants.get("SLICES", 1 << (room.bit_length() - 1))
    return max(1, min(wanted, most))


def _adjacent(loop: scf.ForOp, dot: tile.DotOp) -> bool:
    """Whether the slices of neighbouring iterations lie side by side along k, and only there."""
    sides = _sides(dot)
    assert sides is not None
    return all(
        _moves_by_its_length(loop, v, deep)
        for v, deep in ((sides.matrix, sides.deep), (sides.vector, sides.vector_deep))
    )


def _moves_by_its_length(loop: scf.ForOp, value: SSAValue, deep: int) -> bool:
    load = value.owner
    assert isinstance(load, tile.LoadOp)
    body, step = loop.body.block, constant_value(loop.step)
    along = load.sliced[deep]
    grows = [coefficient(index, body.args[0], body) for index in load.indices]
    others = [g for axis, g in enumerate(grows) if axis != along]
    return grows[along] == 1 and step == shape(value)[deep] and not any(others) and not load.stops


class _Rewrite:
    """Replaces one loop."""

    def __init__(self, loop: scf.ForOp, slices: int) -> None:
        self._loop, self._slices = loop, slices
        self._b = Builder.before(loop)
        self._values: dict[SSAValue, SSAValue] = {}
        terminator = loop.body.block.last_op
        assert terminator is not None
        self._dots = [v.owner for v in terminator.operands]

    def run(self) -> None:
        """The new loop, the sums behind it, and the old one gone."""
        b, loop = self._b, self._loop
        dots = [d for d in self._dots if isinstance(d, tile.DotOp)]
        self._stop = self._end() if self._slices > 1 else None
        step = b.muli(loop.step, b.index(self._slices))
        inits = [b.constant(0, self._parts_type(d)) for d in dots]
        made = b.for_(loop.lb, loop.ub, step, inits)
        made.attributes[SUMMED] = UnitAttr()
        made.attributes[SLICES] = IntegerAttr(self._slices, i64)
        with b.inside(made.body.block):
            self._body(made, dots)
        for dot, parts, start, old in zip(dots, made.results, loop.iter_args, loop.results, strict=True):
            with b.located(dot.location):
                summed = b.addf(start, self._summed(dot, parts))
            summed.name_hint = old.name_hint
            old.replace_all_uses_with(summed)
        loop.detach()
        loop.erase()

    def _end(self) -> SSAValue | None:
        """Where the last slice ends; None where that is past the ends of all tensors along k.

        Otherwise an iteration of several slices could read what the loop does not.
        """
        b, loop = self._b, self._loop
        if self._runs_to_the_end():
            return None
        span = b.maxsi(b.subi(loop.ub, loop.lb), b.index(0))
        return b.addi(loop.lb, b.muli(b.ceildivui(span, loop.step), loop.step))

    def _runs_to_the_end(self) -> bool:
        """Whether the loop ends where every tensor does on the axis along k."""
        kernel = self._loop.parent_op()
        while kernel is not None and not isinstance(kernel, KernelOp):
            kernel = kernel.parent_op()
        assert isinstance(kernel, KernelOp)
        symbols = dict[SSAValue, str]((v, s) for s, v in kernel.symbol_arguments.items())
        end = symbols.get(self._loop.ub)
        tensors = list[SSAValue](kernel.tensor_arguments)
        return end is not None and all(
            kernel.dims(tensors.index(load.source))[load.sliced[deep]] == end
            for load, deep in self._loads()
        )

    def _loads(self) -> list[tuple[tile.LoadOp, int]]:
        """The loads with the axis of the tile that lies along k."""
        found: dict[tile.LoadOp, int] = {}
        for dot in self._loop.body.block.ops:
            sides = _sides(dot) if isinstance(dot, tile.DotOp) else None
            if sides is not None:
                for value, deep in (sides.matrix, sides.deep), (sides.vector, sides.vector_deep):
                    assert isinstance(value.owner, tile.LoadOp)
                    found[value.owner] = deep
        return list(found.items())

    def _widened(self, value: SSAValue, deep: int) -> list[int]:
        return [n * self._slices if a == deep else n for a, n in enumerate(shape(value))]

    def _parts_type(self, dot: tile.DotOp) -> TensorType[Attribute]:
        sides = _sides(dot)
        assert sides is not None
        return TensorType(element(dot.acc), self._widened(sides.matrix, sides.deep))

    def _body(self, made: scf.ForOp, dots: list[tile.DotOp]) -> None:
        b, deep = self._b, dict(self._loads())
        number, *rest = made.body.block.args
        parts = list[SSAValue](rest)
        self._values[self._loop.body.block.args[0]] = number
        number.name_hint = self._loop.body.block.args[0].name_hint
        for op in self._loop.body.block.ops:
            if not isinstance(op, tile.LoadOp | tile.DotOp | scf.YieldOp):
                with b.located(op.location):
                    copy = b.insert(op.clone(dict(self._values)))
                    self._values.update(zip(op.results, copy.results, strict=True))
        for op in sorted(
            deep, key=lambda op: -math.prod(shape(op.result))
        ):  # the matrix has far to come
            with b.located(op.location):
                self._values[op.result] = self._load(op, deep[op])
        for number_, dot in enumerate(dots):
            with b.located(dot.location):
                parts[number_] = self._multiply(dot, parts[number_])
        b.yield_(parts)

    def _load(self, op: tile.LoadOp, deep: int) -> SSAValue:
        """The load of all slices of an iteration."""
        wide, along = self._slices > 1, op.sliced[deep]
        masked = [m or (wide and axis == along) for axis, m in enumerate(op.masked)]
        stops = [self._stop] if wide and self._stop is not None else []
        made = tile.LoadOp(
            self._of(op.source),
            [self._of(v) for v in op.indices],
            TensorType(element(op.result), self._widened(op.result, deep)),
            op.sliced,
            stops=[self._of(v) for v in op.stops] if not wide else stops,
            stop_axes=list(op.stop_axes.get_values()) if not wide else [along] * len(stops),
        )
        made.mask = flags(masked)
        made.attributes[AT_ONCE] = UnitAttr()
        if wide:
            made.attributes[SLICED] = IntegerAttr(along, i64)
        value = self._b.value(made)
        value.name_hint = op.result.name_hint
        return value

    def _of(self, value: SSAValue) -> SSAValue:
        return self._values.get(value, value)

    def _multiply(self, dot: tile.DotOp, parts: SSAValue) -> SSAValue:
        sides = _sides(dot)
        assert sides is not None
        b, sums = self._b, element(dot.acc)
        vector = self._of(sides.vector)
        if sides.deep != sides.vector_deep:
            vector = b.value(tile.TransposeOp(vector, (1, 0)))
        matrix = b.extf(self._of(sides.matrix), sums)
        vector = b.extf(vector, sums)
        if dot.negated is not None:
            vector = b.negf(vector)
        if shape(vector) != shape(matrix):
            vector = b.value(tile.BroadcastOp(vector, shape(matrix)))
        return b.fma(matrix, vector, parts)

    def _summed(self, dot: tile.DotOp, parts: SSAValue) -> SSAValue:
        """The partial sums added up along k, as the accumulator lies."""
        sides = _sides(dot)
        assert sides is not None
        found = self._b.value(tile.ReduceOp(CombiningKindFlag.ADD, parts, sides.deep))
        if shape(found) != shape(dot.acc):
            found = self._b.value(tile.TransposeOp(found, (1, 0)))
        return found
