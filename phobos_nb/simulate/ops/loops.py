"""Rows of `scf.for` and `scf.while`.

Lanes that leave a loop early wait under the mask; what they yielded last is kept as their result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects import scf
from xdsl.ir import Operation

from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.program import Decoder, Label, Step, UnknownOperation, dtype_of
from phobos_nb.simulate.strand import Frame, Strand
from phobos_nb.simulate.undecided import branch_check
from phobos_nb.simulate.values import Bools, Ints, Value, choose, is_array, take


@dataclass
class LoopFrame:
    """An open loop: the mask outside, bounds of an `scf.for`, and the results of lanes that left."""

    mask: Bools | None
    value: Value = 0
    stop: Value = 0
    step: Value = 1
    results: list[Value] = field(default_factory=list[Value])

    def select(self, lanes: Ints, count: int) -> Frame:
        """The part of some lanes."""
        return LoopFrame(
            None if self.mask is None else self.mask[lanes],
            take(self.value, lanes, count),
            take(self.stop, lanes, count),
            take(self.step, lanes, count),
            [take(r, lanes, count) for r in self.results],
        )


def shared_value(value: Value, s: Strand) -> Value:
    """An integer that all active lanes agree on as a Python int, else the array."""
    if not is_array(value):
        return value
    live = value if s.mask is None else value[s.mask]
    if not live.size:
        return 0
    first = int(live[0])
    return first if (live == first).all() else value


def for_row(d: Decoder, op: Operation) -> None:
    """Decode the body once; the step at its end jumps back."""
    assert isinstance(op, scf.ForOp)
    block = op.body.block
    inits, carried = d.slots(op.iter_args), d.slots(block.args[1:])
    results, kinds = d.slots(op.results), [dtype_of(r.type) for r in op.results]
    iv, index = d.slot(block.args[0]), d.op
    end = Label()
    bounds = (d.slot(op.lb), d.slot(op.ub), d.slot(op.step))
    d.emit(_for_begin(bounds, iv, inits, carried, results, end))
    start = d.here
    last = d.block(block)
    if last is None:
        raise UnknownOperation("an scf.for without a yield")
    d.resume(index)
    d.emit(_for_end(iv, d.slots(last.operands), carried, results, kinds, start))
    end.pc = d.here


def _for_begin(
    bounds: tuple[int, int, int],
    iv: int,
    inits: list[int],
    carried: list[int],
    results: list[int],
    end: Label,
) -> Step:
    low, high, step_ = bounds

    def step(m: Machine, s: Strand) -> int | None:
        v = s.values
        first, stop, stride = (shared_value(v[b], s) for b in (low, high, step_))
        values = [v[i] for i in inits]
        enters = first < stop
        if not is_array(enters):
            if not enters:
                _assign(v, results, values)
                return end.pc
            s.frames.append(LoopFrame(None, first, stop, stride))
        else:
            live = enters if s.mask is None else enters & s.mask
            if not live.any():
                _assign(v, results, values)
                return end.pc
            kept = [x.copy() if is_array(x) else x for x in values]  # the body may work in place
            s.frames.append(LoopFrame(_whole(s), first, stop, stride, kept))
            s.set_mask(live)
        _assign(v, carried, values)
        v[iv] = first
        return None

    return step


def _whole(s: Strand) -> Bools:
    """The mask as an array, so that a frame knows that lanes have diverged."""
    return np.ones(s.count, np.bool_) if s.mask is None else s.mask


def _assign(v: list[Value], slots: list[int], values: list[Value]) -> None:
    for slot, value in zip(slots, values, strict=True):
        v[slot] = value


def _for_end(
    iv: int, yields: list[int], carried: list[int], results: list[int], kinds: list[Any], start: int
) -> Step:
    def step(m: Machine, s: Strand) -> int | None:
        v = s.values
        frame: Any = s.frames[-1]
        values = [v[y] for y in yields]
        value = frame.value = frame.value + frame.step
        goes_on = value < frame.stop
        if frame.mask is None:
            if goes_on:
                v[iv] = value
                _assign(v, carried, values)
                return start
            s.frames.pop()
            _assign(v, results, values)
            return None
        if _leave(s, frame, goes_on, values, kinds):
            _assign(v, results, frame.results)
            return None
        v[iv] = shared_value(value, s)
        _assign(v, carried, values)
        return start

    return step


def _leave(s: Strand, frame: LoopFrame, goes_on: Value, values: list[Value], kinds: list[Any]) -> bool:
    """Take out the lanes that do not go on; whether none is left, with the frame closed."""
    if goes_on is True:
        return False
    active = _whole(s)
    live = active & goes_on
    leaving = active & ~live
    if leaving.any():
        old = frame.results or values
        frame.results = [
            choose(leaving, new, o, k) for new, o, k in zip(values, old, kinds, strict=True)
        ]
    if live.any():
        s.set_mask(live)
        return False
    s.frames.pop()
    s.set_mask(frame.mask)
    return True


def while_row(d: Decoder, op: Operation) -> None:
    """Decode the region before the condition and the one after it."""
    assert isinstance(op, scf.WhileOp)
    before, after = op.before_region.block, op.after_region.block
    inits, first_args = d.slots(op.arguments), d.slots(before.args)
    results, kinds = d.slots(op.res), [dtype_of(r.type) for r in op.res]
    end, index = Label(), d.op

    def begin(m: Machine, s: Strand) -> None:
        _assign(s.values, first_args, [s.values[i] for i in inits])
        s.frames.append(LoopFrame(s.mask))

    d.emit(begin)
    start = d.here
    test = d.block(before)
    if not isinstance(test, scf.ConditionOp):
        raise UnknownOperation("an scf.while without a condition")
    d.resume(index)
    d.emit(_condition(d, test, d.slots(after.args), results, kinds, end))
    last = d.block(after)
    yields = [] if last is None else d.slots(last.operands)
    d.resume(index)

    def again(m: Machine, s: Strand) -> int:
        _assign(s.values, first_args, [s.values[y] for y in yields])
        return start

    d.emit(again)
    end.pc = d.here


def _condition(
    d: Decoder, op: scf.ConditionOp, args: list[int], results: list[int], kinds: list[Any], end: Label
) -> Step:
    test, passed = d.slot(op.condition), d.slots(op.args)
    check = branch_check(d.program.operations, op.condition, d.op)

    def step(m: Machine, s: Strand) -> int | None:
        v = s.values
        if check is not None:
            check(m, s)
        goes_on: Any = shared_value(v[test], s)
        values = [v[p] for p in passed]
        frame: Any = s.frames[-1]
        if _leave(s, frame, bool(goes_on) if not is_array(goes_on) else goes_on, values, kinds):
            _assign(v, results, frame.results)
            return end.pc
        _assign(v, args, values)
        return None

    return step
