"""Reductions, running sums and argmax per thread: slots first, then lanes by xor shuffles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import IndexType, IntegerType, VectorType, f32, f64, i1, i32, i64
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, SSAValue

from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.shapes import element_of, is_float, shape_of
from phobos_nb.lower import staged
from phobos_nb.lower.layouts import Layout
from phobos_nb.lower.thread_builder import ThreadBuilder, Vector
from phobos_nb.lower.thread_state import ThreadState

Combine = Callable[[SSAValue, SSAValue], SSAValue]


def distribute_combine(state: ThreadState, op: staged.CombineOp) -> None:
    """Combine along an axis as far as slots and lanes reach."""
    b, axis, kind = state.b, op.axis.value.data, op.kind.data
    layout = state.layout(op.source)
    value = _fill_dead(state, state.get(op.source), layout, axis, identity(kind, _element(op.source)))
    scalars = _over_slots(b, value, kind, axis)
    combine = combiner(b, kind)
    for mask in layout.lane_masks(axis):
        scalars = [combine(s, exchange(b, s, mask)) for s in scalars]
    state.values[op.result] = b.from_elements(scalars, state.type_of(op.result))


def _element(value: SSAValue) -> Attribute:
    return element_of(value.type)


def _over_slots(b: ThreadBuilder, value: SSAValue, kind: CombiningKindFlag, axis: int) -> list[SSAValue]:
    """One scalar for each combination of the other axes' slots."""
    shape = shape_of(value.type) or ()
    if shape[axis] == 1:
        return b.to_elements(value)
    rest = [n for a, n in enumerate(shape) if a != axis]
    start = identity(kind, element_of(value.type))
    if not rest:
        zero = b.constant(start, element_of(value.type))
        return [b.multi_reduction(kind, value, zero, axis)]
    zeros = b.filled(start, VectorType(element_of(value.type), rest))
    return b.to_elements(b.multi_reduction(kind, value, zeros, axis))


def _fill_dead(
    state: ThreadState, value: SSAValue, layout: Layout, axis: int, filler: float | int
) -> SSAValue:
    """Put the identity into slots that lie past the tile along the axis."""
    if not layout.overhangs(axis):
        return value
    b = state.b
    live = live_slots(state, layout, axis)
    shape = [len(live) if a == axis else 1 for a in range(len(layout.shape))]
    mask = b.from_elements(live, VectorType(i1, shape))
    mask = b.broadcast(mask, VectorType(i1, layout.slots))
    return b.select(mask, value, b.filled(filler, cast(Vector, value.type)))


def live_slots(state: ThreadState, layout: Layout, axis: int) -> list[SSAValue]:
    """For each slot of an axis, whether it lies inside the tile."""
    return [state.in_tile(layout, axis, offset) for offset in layout.axes[axis].offsets]


def identity(kind: CombiningKindFlag, type_: Attribute) -> float | int:
    """The value that changes nothing when it is combined."""
    bits = cast(IntegerType, type_).bitwidth if isinstance(type_, IntegerType) else 64
    return {
        CombiningKindFlag.ADD: 0,
        CombiningKindFlag.MAXIMUMF: -math.inf,
        CombiningKindFlag.MINIMUMF: math.inf,
        CombiningKindFlag.MAXSI: -(1 << (bits - 1)),
        CombiningKindFlag.MINSI: (1 << (bits - 1)) - 1,
        CombiningKindFlag.MAXUI: 0,
        CombiningKindFlag.MINUI: -1,
    }[kind]


def combiner(b: ThreadBuilder, kind: CombiningKindFlag) -> Combine:
    """The scalar op of a kind."""
    if kind is CombiningKindFlag.ADD:
        return lambda x, y: b.addf(x, y) if is_float(x.type) else b.addi(x, y)
    return cast(Combine, getattr(b, kind.value))


def exchange(b: ThreadBuilder, value: SSAValue, mask: int) -> SSAValue:
    """The value of lane ^ mask; types narrower than a register travel in a wider one."""
    held = value.type
    if held in (f32, f64, i32, i64):
        return b.shuffle_xor(value, mask)
    if is_float(held):
        return b.truncf(b.shuffle_xor(b.extf(value, f32), mask), held)
    if held == IndexType():
        return b.index_cast(b.shuffle_xor(b.index_cast(value, i64), mask), held)
    return b.trunci(b.shuffle_xor(b.extui(value, i32), mask), held)


def distribute_scan(state: ThreadState, op: tile.ScanOp) -> None:
    """A running combination where each thread holds whole lines."""
    b, axis = state.b, op.axis.value.data
    layout = state.layout(op.result)
    assert not layout.axes[axis].digits, "a scanned axis lies in the slots of one thread"
    step = math.prod(layout.slots[axis + 1 :])
    combine = combiner(b, op.kind.data)
    scalars = b.to_elements(state.get(op.source))
    for place in range(len(scalars)):
        if place // step % layout.slots[axis]:
            scalars[place] = combine(scalars[place - step], scalars[place])
    state.values[op.result] = b.from_elements(scalars, state.type_of(op.result))


def distribute_argmax(state: ThreadState, op: tile.ArgmaxOp) -> None:
    """Pairs of value and position; a NaN wins over numbers, the lower position over equals."""
    b, axis = state.b, op.axis.value.data
    layout = state.layout(op.source)
    assert not layout.crossing_digits(axis), "argmax is exchanged inside warps"
    scalars = b.to_elements(state.get(op.source))
    step, count = math.prod(layout.slots[axis + 1 :]), layout.slots[axis]
    live = live_slots(state, layout, axis) if layout.overhangs(axis) else None
    base = state.coordinate(layout.axes[axis])
    best: dict[int, tuple[SSAValue, SSAValue]] = {}
    better = _Better(b, unsigned=op.is_unsigned is not None)
    for place, value in enumerate(scalars):
        slot, line = place // step % count, place // (step * count) * step + place % step
        position = b.index_cast(b.addi(base, b.index(layout.axes[axis].offsets[slot])), i32)
        if live is not None:
            position = b.select(live[slot], position, b.constant(2**31 - 1, i32))
            lowest = _lowest(value.type, unsigned=op.is_unsigned is not None)
            value = b.select(live[slot], value, b.constant(lowest, value.type))
        best[line] = better.of(best[line], (value, position)) if line in best else (value, position)
    for mask in layout.lane_masks(axis):
        for line, (value, position) in best.items():
            other = exchange(b, value, mask), exchange(b, position, mask)
            best[line] = better.of((value, position), other)
    state.values[op.result] = b.from_elements([p for _, p in best.values()], state.type_of(op.result))


def _lowest(type_: Attribute, *, unsigned: bool) -> float | int:
    if is_float(type_):
        return -math.inf
    return identity(CombiningKindFlag.MAXUI if unsigned else CombiningKindFlag.MAXSI, type_)


class _Better:
    """Chooses between two pairs of value and position."""

    def __init__(self, b: ThreadBuilder, *, unsigned: bool) -> None:
        self._b = b
        self._greater = "ugt" if unsigned else "sgt"

    def of(
        self, a: tuple[SSAValue, SSAValue], c: tuple[SSAValue, SSAValue]
    ) -> tuple[SSAValue, SSAValue]:
        b = self._b
        lower = b.cmpi("slt", c[1], a[1])
        if is_float(a[0].type):
            nan_a, nan_c = b.cmpf("uno", a[0], a[0]), b.cmpf("uno", c[0], c[0])
            wins = b.andi(b.cmpf("ugt", c[0], a[0]), b.negate_i1(nan_a))
            ties = b.ori(b.cmpf("oeq", c[0], a[0]), b.andi(nan_a, nan_c))
        else:
            wins, ties = b.cmpi(self._greater, c[0], a[0]), b.cmpi("eq", c[0], a[0])
        take = b.ori(wins, b.andi(ties, lower))
        return b.select(take, c[0], a[0]), b.select(take, c[1], a[1])
