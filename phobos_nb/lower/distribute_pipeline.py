"""Emits a pipelined loop per thread: copies run stages ahead of the dots that read them.

One barrier per iteration, in front of the last k-step, whose fragments are in registers by then; the
fragments of the next stage's first k-step are loaded right after it. How global
addresses, the guard of the copies and the stages are expressed is the loop's form, see loop_form.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.dialects import gpu, tile
from phobos_nb.ir.dialects.shapes import element_of
from phobos_nb.lower import staged
from phobos_nb.lower.copies import Action, AsyncCopy, Copy, LocatedCopy, RegisterCopy
from phobos_nb.lower.distribute_dot import Fragment, fragments_of, multiply, narrow, sum_type, widen
from phobos_nb.lower.layout_types import is_tile
from phobos_nb.lower.layouts import Axis
from phobos_nb.lower.loop_form import GUARD, LoopForm
from phobos_nb.lower.noted_form import form_of
from phobos_nb.lower.pipeline_loops import MODE, STAGES
from phobos_nb.lower.thread_builder import ThreadBuilder
from phobos_nb.lower.thread_state import ThreadState

EmitOne = Callable[[ThreadState, Operation], None]
"""Emits one per-thread op of the loop's index arithmetic, or of its work on sums."""


@dataclass
class Parts:
    """The ops of a pipelined loop by what they do."""

    scalars: list[Operation] = field(default_factory=list[Operation])
    copies: list[tuple[tile.LoadOp, staged.WriteOp]] = field(
        default_factory=list[tuple[tile.LoadOp, staged.WriteOp]]
    )
    barriers: list[gpu.BarrierOp] = field(default_factory=list[gpu.BarrierOp])
    dots: list[staged.DotOp] = field(default_factory=list[staged.DotOp])
    elements: list[Operation] = field(default_factory=list[Operation])


def parts_of(loop: scf.ForOp) -> Parts:
    """Sort the ops of the loop's body."""
    parts = Parts()
    for op in loop.body.block.ops:
        if isinstance(op, staged.DotOp):
            parts.dots.append(op)
        elif isinstance(op, gpu.BarrierOp):
            parts.barriers.append(op)
        elif isinstance(op, staged.WriteOp):
            assert isinstance(op.value.owner, tile.LoadOp)
            parts.copies.append((op.value.owner, op))
        elif not isinstance(op, tile.LoadOp | scf.YieldOp):
            (parts.elements if any(map(is_tile, op.results)) else parts.scalars).append(op)
    return parts


def _root(dot: staged.DotOp) -> staged.DotOp:
    """The dot whose sums a dot adds to: itself, or the first of several in a row."""
    before = dot.acc.owner
    return _root(before) if isinstance(before, staged.DotOp) and before.parent is dot.parent else dot


def is_pipelined(loop: scf.ForOp) -> bool:
    """Whether the loop was given stages."""
    return STAGES in loop.attributes


class PipelinedLoop:
    """The emission of one loop."""

    def __init__(self, state: ThreadState, loop: scf.ForOp, emit_one: EmitOne) -> None:
        stages, mode = loop.attributes[STAGES], loop.attributes[MODE]
        assert isinstance(stages, IntegerAttr)
        assert isinstance(mode, StringAttr)
        self._state, self._loop, self._emit_one = state, loop, emit_one
        self._b: ThreadBuilder = state.b
        self._stages: int = stages.value.data
        self._parts = parts_of(loop)
        self._asynchronous = mode.data == "async"
        self._start, self._step = state.get(loop.lb), state.get(loop.step)
        made = AsyncCopy if self._asynchronous else RegisterCopy
        self._copies: list[Copy] = [
            LocatedCopy(state.b, made(state, load, write, loop), load.location)
            for load, write in self._parts.copies
        ]
        self._form = form_of(loop)
        self._fragments = _Fragments(state, self._parts.dots, flat=self._form.ring == "offset")
        self._ring = _ring(self._form, self._stages, self._parts)
        self._token: SSAValue | None = None
        self._depth = self._parts.dots[0].depth.value.data

    def emit(self) -> None:
        """The whole loop; its results become those of the tile-level loop."""
        b, slices = self._b, self._form.slices
        trip = self._trip()
        inits = [self._state.get(v) for v in self._loop.iter_args]
        self._position(self._start)
        positions = [p for c in self._copies for p in c.start()]
        positions = self._prologue(trip, positions)
        first = self._fragments.load(b.index(0), self._ring.by_buffer(self._ring.at(b, 0)))
        place = [*self._ring.at(b, 0), *self._ring.at(b, self._stages - 1)]
        held, done = [*positions, *inits, *first], b.index(0)
        if slices > 1:
            done = b.subi(trip, b.remui(trip, b.index(slices)))
            place, held = self._rounds(trip, b.index(0), done, slices, place, held)
        _, held = self._rounds(trip, done, trip, 1, place, held)
        self._let_zeros_land()
        at = len(positions)
        for old, new in zip(self._loop.results, held[at : at + len(inits)], strict=True):
            self._state.values[old] = new
            new.name_hint = old.name_hint

    def _let_zeros_land(self) -> None:
        """Copies of no bytes write zeros past the last slice, which must not land in what comes next."""
        if self._asynchronous and self._form.guard == "zero_fill":
            self._b.wait_copies(self._b.commit_copies(), 0)

    def _rounds(
        self,
        trip: SSAValue,
        start: SSAValue,
        stop: SSAValue,
        slices: int,
        place: list[SSAValue],
        held: list[SSAValue],
    ) -> tuple[list[SSAValue], list[SSAValue]]:
        """Slices `start` to `stop`, so many in an iteration; places in the ring and values after them.

        Where an iteration goes round the ring a whole number of times, the places are constants.
        """
        b = self._b
        turns = slices % self._stages == 0
        carried = held if turns else [*place, *held]
        loop = b.for_(start, stop, b.index(slices), carried)
        with b.inside(loop.body.block):
            turn, *values = list[SSAValue](loop.body.block.args)
            now, held = (place, values) if turns else _split(values, len(place))
            for number in range(slices):
                if turns:
                    now = self._places(number)
                now, held = self._slice(trip, b.addi(turn, b.index(number)), now, held)
            b.yield_(held if turns else [*now, *held])
        results = list[SSAValue](loop.results)
        return (place, results) if turns else _split(results, len(place))

    def _places(self, slice_: int) -> list[SSAValue]:
        """The constant places that a slice reads and that its copies fill."""
        read, write = slice_ % self._stages, (slice_ + self._stages - 1) % self._stages
        return [*self._ring.at(self._b, read), *self._ring.at(self._b, write)]

    def _trip(self) -> SSAValue:
        """How many iterations: ceil((stop - start) / step), none where stop <= start."""
        b = self._b
        span = b.subi(self._state.get(self._loop.ub), self._start)
        if not self._state.facts.not_negative(self._loop.ub) or self._loop_start() != 0:
            span = b.maxsi(span, b.index(0))
        return b.ceildivui(span, self._step)

    def _loop_start(self) -> int | None:
        bounds = self._state.facts.range(self._loop.lb)
        return bounds.low if bounds.low == bounds.high else None

    def _position(self, value: SSAValue) -> None:
        """Evaluate the loop's index arithmetic for a value of its variable."""
        self._state.values[self._loop.body.block.args[0]] = value
        for op in self._parts.scalars:
            self._emit_one(self._state, op)

    def _prologue(self, trip: SSAValue, positions: list[SSAValue]) -> list[SSAValue]:
        """Fill all stages but the last."""
        b = self._b
        for stage in range(self._stages - 1):
            self._position(b.addi(self._start, b.muli(self._step, b.index(stage))))
            inside = b.cmpi("ult", b.index(stage), trip)
            positions = self._issue(inside, self._ring.at(b, stage), positions)
        for copy in self._copies:
            copy.land(b.index(0))
        self._wait()
        return positions

    def _issue(
        self, inside: SSAValue, place: list[SSAValue], positions: list[SSAValue]
    ) -> list[SSAValue]:
        """Start the copies of one slice into a stage, and move the positions on."""
        rest, own = iter(positions), list[list[SSAValue]]()
        for copy in self._copies:
            own.append(list(itertools.islice(rest, copy.carried)))
        places = [self._ring.of(c, place) for c in range(len(self._copies))]
        actions = [
            copy.issue(inside, at, carried)
            for copy, at, carried in zip(self._copies, places, own, strict=True)
        ]
        if self._asynchronous:
            self._guarded(inside, actions)
            self._token = self._b.commit_copies()
        return [v for c, carried in zip(self._copies, own, strict=True) for v in c.advance(carried)]

    def _guarded(self, inside: SSAValue, actions: list[Action]) -> None:
        if self._form.guard == "zero_fill":
            _run(actions)
        else:
            branch = self._b.when(inside, partial(_run, actions))
            if branch is not None and self._form.guard == "branch":
                branch.attributes[GUARD] = StringAttr("branch")

    def _wait(self) -> None:
        """The oldest slice in flight has landed, for every thread."""
        if self._token is not None:
            self._b.wait_copies(self._token, self._stages - 2)
        for barrier in self._parts.barriers:
            made = self._b.insert(gpu.BarrierOp())
            made.attributes.update(barrier.attributes)

    def _slice(
        self, trip: SSAValue, turn: SSAValue, place: list[SSAValue], values: list[SSAValue]
    ) -> tuple[list[SSAValue], list[SSAValue]]:
        """One k-slice: start the copies that are due, then multiply; places and values of the next."""
        b = self._b
        read, write = _split(place, self._ring.size)
        positions, rest = _split(values, sum(c.carried for c in self._copies))
        accs, held = _split(rest, len(self._loop.iter_args))
        self._state.values.update(zip(self._loop.body.block.args[1:], accs, strict=True))
        ahead = b.addi(turn, b.index(self._stages - 1))
        inside = b.cmpi("ult", ahead, trip)
        self._position(b.addi(self._start, b.muli(ahead, self._step)))
        moved = self._issue(inside, write, positions)
        sums = self._sums()
        after = self._ring.after(b, read)
        for step in range(self._depth):
            if step == self._depth - 1:
                for copy in self._copies:
                    copy.land(write[0])
                self._wait()
                coming = self._fragments.load(b.index(0), self._ring.by_buffer(after))
            else:
                coming = self._fragments.load(b.index(step + 1), self._ring.by_buffer(read))
            for dot in self._parts.dots:
                rows, columns = self._fragments.of(dot, held)
                root = _root(dot)
                with b.located(dot.location):
                    sums[root] = multiply(self._state, dot, rows, columns, sums[root])
            held = coming
        return [*after, *self._ring.after(b, write)], [*moved, *self._yielded(turn, sums), *held]

    def _sums(self) -> dict[staged.DotOp, SSAValue]:
        """What each dot that is the first on its sums adds to, in the type of the sums."""
        found: dict[staged.DotOp, SSAValue] = {}
        for dot in self._parts.dots:
            if _root(dot) is dot:
                if dot.acc.owner in self._parts.elements:  # a constant
                    self._emit_one(self._state, cast(Operation, dot.acc.owner))
                start, sums = self._state.get(dot.acc), sum_type(element_of(dot.a.type))
                found[dot] = widen(self._state, start, sums, unsigned=False)
        return found

    def _yielded(self, turn: SSAValue, sums: dict[staged.DotOp, SSAValue]) -> list[SSAValue]:
        """What the slice `turn` leaves: its sums, or what is made of them element by element."""
        b, state, terminator = self._b, self._state, self._loop.body.block.last_op
        assert terminator is not None
        for dot in self._parts.dots:
            state.values[dot.result] = narrow(state, sums[_root(dot)], element_of(dot.result.type))
        if self._parts.elements:
            self._position(b.addi(self._start, b.muli(turn, self._step)))
        for op in self._parts.elements:
            with b.located(op.location):
                self._emit_one(state, op)
        return [state.get(v) for v in terminator.operands]


class _Ring:
    """Places in the ring of stages: one value for all buffers, or an element offset for each.

    buffers: the buffer of each copy. units: what a stage adds to a place.
    """

    def __init__(self, stages: int, buffers: Sequence[SSAValue], units: Sequence[int]) -> None:
        self._stages, self._buffers, self._units = stages, list(dict.fromkeys(buffers)), list(units)
        self._copies = list(buffers)

    @property
    def size(self) -> int:
        """How many values a place takes."""
        return len(self._units)

    def at(self, b: ThreadBuilder, stage: int) -> list[SSAValue]:
        """The place of a stage known by number."""
        return [b.index(stage * unit) for unit in self._units]

    def after(self, b: ThreadBuilder, place: Sequence[SSAValue]) -> list[SSAValue]:
        """The next stage, round and round."""
        found: list[SSAValue] = []
        for value, unit in zip(place, self._units, strict=True):
            following = b.addi(value, b.index(unit))
            wraps = b.cmpi("eq", following, b.index(unit * self._stages))
            found.append(b.select(wraps, b.index(0), following))
        return found

    def by_buffer(self, place: Sequence[SSAValue]) -> dict[SSAValue, SSAValue]:
        """The value that counts for each buffer."""
        return {v: place[i if self.size > 1 else 0] for i, v in enumerate(self._buffers)}

    def of(self, copy: int, place: Sequence[SSAValue]) -> SSAValue:
        """The value that counts for the buffer of a copy."""
        return self.by_buffer(place)[self._copies[copy]]


def _ring(form: LoopForm, stages: int, parts: Parts) -> _Ring:
    buffers = [write.buffer for _, write in parts.copies]
    if form.ring == "stage":
        return _Ring(stages, buffers, [1])
    makers = [cast(staged.BufferOp, b.owner) for b in dict.fromkeys(buffers)]
    return _Ring(stages, buffers, [math.prod(m.physical) for m in makers])


class _Fragments:
    """The distinct fragments that the dots of a loop read in one k-step."""

    def __init__(self, state: ThreadState, dots: Sequence[staged.DotOp], *, flat: bool) -> None:
        self._b, self._location = state.b, dots[0].location
        self._distinct: dict[tuple[SSAValue, Axis], Fragment] = {}
        self._pairs: dict[staged.DotOp, tuple[int, int]] = {}
        for dot in dots:
            numbers: list[int] = []
            axes = state.layout(dot.acc).axes
            made = fragments_of(state, dot, flat=flat)
            for buffer, axis, fragment in zip((dot.a, dot.b), axes, made, strict=True):
                self._distinct.setdefault((buffer, axis), fragment)
                numbers.append(list(self._distinct).index((buffer, axis)))
            self._pairs[dot] = numbers[0], numbers[1]

    def load(self, step: SSAValue, places: Mapping[SSAValue, SSAValue]) -> list[SSAValue]:
        """All fragments of a k-step, by each buffer's place in the ring."""
        with self._b.located(self._location):
            return [f.load(step, *_known(places, buffer)) for (buffer, _), f in self._distinct.items()]

    def of(self, dot: staged.DotOp, held: Sequence[SSAValue]) -> tuple[SSAValue, SSAValue]:
        """The two fragments of a dot among those that are held."""
        rows, columns = self._pairs[dot]
        return held[rows], held[columns]


def _known(places: Mapping[SSAValue, SSAValue], buffer: SSAValue) -> list[SSAValue]:
    """The place of a buffer; none for one that is not copied in the loop."""
    return [places[buffer]] if buffer in places else []


def _split(values: Sequence[SSAValue], count: int) -> tuple[list[SSAValue], list[SSAValue]]:
    return list(values[:count]), list(values[count:])


def _run(actions: Sequence[Action]) -> None:
    for action in actions:
        action()
