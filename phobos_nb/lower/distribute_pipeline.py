"""Emits a pipelined loop per thread: copies run stages ahead of the dots that read them.

One barrier per iteration, in front of the last k-step, whose fragments are in registers by then; the
fragments of the next stage's first k-step are loaded right after it. Global positions are running
pointers, the guard of the copies is one branch around them (measured on an H200: the form that is
fastest most often).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from xdsl.dialects import gpu, scf
from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.shapes import element_of
from phobos_nb.lower import staged
from phobos_nb.lower.copies import Action, AsyncCopy, Copy, RegisterCopy
from phobos_nb.lower.distribute_dot import Fragment, fragments_of, multiply, narrow, sum_type, widen
from phobos_nb.lower.layouts import Axis
from phobos_nb.lower.pipeline_loops import MODE, STAGES
from phobos_nb.lower.thread_builder import ThreadBuilder
from phobos_nb.lower.thread_state import ThreadState

EmitScalar = Callable[[ThreadState, Operation], None]
"""Emits one per-thread op of the loop's index arithmetic."""


@dataclass
class Parts:
    """The ops of a pipelined loop by what they do."""

    scalars: list[Operation] = field(default_factory=list[Operation])
    copies: list[tuple[tile.LoadOp, staged.WriteOp]] = field(
        default_factory=list[tuple[tile.LoadOp, staged.WriteOp]]
    )
    barriers: list[gpu.BarrierOp] = field(default_factory=list[gpu.BarrierOp])
    dots: list[staged.DotOp] = field(default_factory=list[staged.DotOp])


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
            parts.scalars.append(op)
    return parts


def is_pipelined(loop: scf.ForOp) -> bool:
    """Whether the loop was given stages."""
    return STAGES in loop.attributes


class PipelinedLoop:
    """The emission of one loop."""

    def __init__(self, state: ThreadState, loop: scf.ForOp, emit_scalar: EmitScalar) -> None:
        stages, mode = loop.attributes[STAGES], loop.attributes[MODE]
        assert isinstance(stages, IntegerAttr)
        assert isinstance(mode, StringAttr)
        self._state, self._loop, self._emit_scalar = state, loop, emit_scalar
        self._b: ThreadBuilder = state.b
        self._stages: int = stages.value.data
        self._parts = parts_of(loop)
        self._asynchronous = mode.data == "async"
        self._start, self._step = state.get(loop.lb), state.get(loop.step)
        made = AsyncCopy if self._asynchronous else RegisterCopy
        self._copies: list[Copy] = [made(state, *c, loop) for c in self._parts.copies]
        self._fragments = _Fragments(state, self._parts.dots)
        self._token: SSAValue | None = None
        self._depth = self._parts.dots[0].depth.value.data

    def emit(self) -> None:
        """The whole loop; its results become those of the tile-level loop."""
        b = self._b
        trip = self._trip()
        inits = [self._state.get(v) for v in self._loop.iter_args]
        self._position(self._start)
        positions = [p for c in self._copies for p in c.start()]
        positions = self._prologue(trip, positions)
        first = self._fragments.load(b.index(0), b.index(0))
        ahead = b.index(self._stages - 1)
        carried = [b.index(0), ahead, *positions, *inits, *first]
        loop = b.for_(b.index(0), trip, b.index(1), carried)
        with b.inside(loop.body.block):
            b.yield_(self._body(trip, list(loop.body.block.args), len(positions)))
        at = 2 + len(positions)
        for old, new in zip(self._loop.results, loop.results[at : at + len(inits)], strict=True):
            self._state.values[old] = new
            new.name_hint = old.name_hint

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
            self._emit_scalar(self._state, op)

    def _prologue(self, trip: SSAValue, positions: list[SSAValue]) -> list[SSAValue]:
        """Fill all stages but the last."""
        b = self._b
        for stage in range(self._stages - 1):
            self._position(b.addi(self._start, b.muli(self._step, b.index(stage))))
            inside = b.cmpi("ult", b.index(stage), trip)
            positions = self._issue(inside, b.index(stage), positions)
        for copy in self._copies:
            copy.land(b.index(0))
        self._wait()
        return positions

    def _issue(self, inside: SSAValue, stage: SSAValue, positions: list[SSAValue]) -> list[SSAValue]:
        """Start the copies of one slice into a stage, and move the positions on."""
        rest, moved = list(positions), list[SSAValue]()
        actions = [c.issue(inside, stage, [rest.pop(0) for _ in range(c.carried)]) for c in self._copies]
        if self._asynchronous:
            self._b.when(inside, partial(_run, actions))
            self._token = self._b.commit_copies()
        rest = list(positions)
        for copy in self._copies:
            moved += copy.advance([rest.pop(0) for _ in range(copy.carried)])
        return moved

    def _wait(self) -> None:
        """The oldest slice in flight has landed, for every thread."""
        if self._token is not None:
            self._b.wait_copies(self._token, self._stages - 2)
        for barrier in self._parts.barriers:
            made = self._b.insert(gpu.BarrierOp())
            made.attributes.update(barrier.attributes)

    def _body(self, trip: SSAValue, arguments: list[SSAValue], count: int) -> list[SSAValue]:
        b = self._b
        turn, read, write, *rest = arguments
        positions, rest = rest[:count], rest[count:]
        accs, held = rest[: len(self._loop.iter_args)], rest[len(self._loop.iter_args) :]
        ahead = b.addi(turn, b.index(self._stages - 1))
        inside = b.cmpi("ult", ahead, trip)
        self._position(b.addi(self._start, b.muli(ahead, self._step)))
        moved = self._issue(inside, write, positions)
        sums = self._sums(accs)
        after = self._after(read)
        for step in range(self._depth):
            if step == self._depth - 1:
                for copy in self._copies:
                    copy.land(write)
                self._wait()
                coming = self._fragments.load(b.index(0), after)
            else:
                coming = self._fragments.load(b.index(step + 1), read)
            for dot in self._parts.dots:
                rows, columns = self._fragments.of(dot, held)
                sums[dot.result] = multiply(self._state, dot, rows, columns, sums[dot.result])
            held = coming
        return [after, self._after(write), *moved, *self._yielded(sums), *held]

    def _after(self, stage: SSAValue) -> SSAValue:
        """The next stage, round and round."""
        b = self._b
        following = b.addi(stage, b.index(1))
        wraps = b.cmpi("eq", following, b.index(self._stages))
        return b.select(wraps, b.index(0), following)

    def _sums(self, accs: list[SSAValue]) -> dict[SSAValue, SSAValue]:
        """The accumulator that each dot adds to, by the dot's result, in the type of the sums."""
        arguments = list(self._loop.body.block.args[1:])
        by_argument = dict[SSAValue, SSAValue](zip(arguments, accs, strict=True))
        return {
            dot.result: widen(
                self._state, by_argument[dot.acc], sum_type(element_of(dot.a.type)), unsigned=False
            )
            for dot in self._parts.dots
        }

    def _yielded(self, sums: dict[SSAValue, SSAValue]) -> list[SSAValue]:
        terminator = self._loop.body.block.last_op
        assert terminator is not None
        return [narrow(self._state, sums[v], element_of(v.type)) for v in terminator.operands]


class _Fragments:
    """The distinct fragments that the dots of a loop read in one k-step."""

    def __init__(self, state: ThreadState, dots: Sequence[staged.DotOp]) -> None:
        self._distinct: dict[tuple[SSAValue, Axis], Fragment] = {}
        self._pairs: dict[staged.DotOp, tuple[int, int]] = {}
        for dot in dots:
            numbers: list[int] = []
            axes = state.layout(dot.acc).axes
            for buffer, axis, made in zip((dot.a, dot.b), axes, fragments_of(state, dot), strict=True):
                self._distinct.setdefault((buffer, axis), made)
                numbers.append(list(self._distinct).index((buffer, axis)))
            self._pairs[dot] = numbers[0], numbers[1]

    def load(self, step: SSAValue, stage: SSAValue) -> list[SSAValue]:
        """All fragments of a k-step of a stage."""
        return [f.load(step, stage) for f in self._distinct.values()]

    def of(self, dot: staged.DotOp, held: Sequence[SSAValue]) -> tuple[SSAValue, SSAValue]:
        """The two fragments of a dot among those that are held."""
        rows, columns = self._pairs[dot]
        return held[rows], held[columns]


def _run(actions: Sequence[Action]) -> None:
    for action in actions:
        action()
