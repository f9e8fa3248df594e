"""How one operand of a pipelined loop gets from global to shared memory, slice after slice.

Both kinds speak the same protocol: `start` makes the values that the loop carries, `issue` begins the
copy of the slice at the present position into a stage, `advance` moves the carried values by one slice,
`land` completes what `issue` began.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from xdsl.dialects import scf
from xdsl.ir import SSAValue

from phobos_nb.ir.dialects import tile
from phobos_nb.lower import staged
from phobos_nb.lower.distribute_box import Box, Run, load_tile
from phobos_nb.lower.distribute_shared import write_tile
from phobos_nb.lower.layout_types import byte_width
from phobos_nb.lower.pipeline_loops import coefficient
from phobos_nb.lower.thread_state import ThreadState

Action = Callable[[], None]


class Copy(Protocol):
    """One operand's copies; `carried` is how many values the loop carries for it."""

    carried: int

    def start(self) -> list[SSAValue]:
        """The carried values in front of the loop."""
        ...

    def issue(self, inside: SSAValue, stage: SSAValue, carried: list[SSAValue]) -> Action:
        """Prepare the copy of the present slice; the action, built under `inside`, starts it."""
        ...

    def advance(self, carried: list[SSAValue]) -> list[SSAValue]:
        """The carried values of the next slice."""
        ...

    def land(self, stage: SSAValue) -> None:
        """Complete the copy begun last."""
        ...


class AsyncCopy:
    """`cp.async` from a running pointer; elements outside the tensor arrive as zeros."""

    carried = 1

    def __init__(
        self, state: ThreadState, load: tile.LoadOp, write: staged.WriteOp, loop: scf.ForOp
    ) -> None:
        self._state, self._load, self._write, self._loop = state, load, write, loop
        buffer = write.buffer.owner
        assert isinstance(buffer, staged.BufferOp)
        self._order = buffer.axis_order
        layout = state.layout(load.result)
        self._view = state.view(write.buffer, layout)
        self._first = state.first_replica(layout)

    def start(self) -> list[SSAValue]:
        """The thread's own element of the first slice."""
        box = self._box()
        return [self._state.b.pointer(box.tensor.base, box.base_address())]

    def issue(self, inside: SSAValue, stage: SSAValue, carried: list[SSAValue]) -> Action:
        """Addresses and counts are built here, the copies in the action."""
        del inside
        box = self._box()
        runs = [(run, self._count(box, run)) for run in box.runs(None, self._state.b.index(0))]

        def copies() -> None:
            for run, count in runs:
                self._copy(box, run, count, stage, carried[0])

        return lambda: self._state.b.when(self._first, copies)

    def advance(self, carried: list[SSAValue]) -> list[SSAValue]:
        """Move the pointer by one slice."""
        b, box = self._state.b, self._box()
        body = self._loop.body.block
        step = b.index(0)
        for index, stride in zip(self._load.indices, box.tensor.strides, strict=True):
            grows = coefficient(index, body.args[0], body)
            step = b.addi(step, b.muli(stride, b.index(grows or 0)))
        step = b.muli(step, self._state.get(self._loop.step))
        return [b.moved(carried[0], step)]

    def land(self, stage: SSAValue) -> None:
        """The hardware does."""

    def _box(self) -> Box:
        """Addresses and masks at the present position; widths that cp.async cannot move are halved."""
        box = Box(self._state, self._load)
        size = byte_width(box.element)
        if box.alignment < size * box.width or self._order[-1] != len(self._order) - 1:
            box.narrow(1)
        return box

    def _count(self, box: Box, run: Run) -> SSAValue | None:
        """How many elements of the run are read, None for all."""
        b, width = self._state.b, self._state.b.index(box.width)
        count = None
        if run.count is not None:
            count = b.minsi(b.maxsi(run.count, b.index(0)), width)
        if run.condition is not None:
            count = b.select(run.condition, width if count is None else count, b.index(0))
        return count

    def _copy(
        self, box: Box, run: Run, count: SSAValue | None, stage: SSAValue, pointer: SSAValue
    ) -> None:
        b = self._state.b
        offsets = [box.layout.axes[a].offsets[run.slot[a]] for a in self._order]
        places = [stage, *(b.index(o) for o in offsets)]
        b.copy_async(self._view, places, pointer, run.address, box.width, count)


class RegisterCopy:
    """Loads into registers ahead of the dots, writes to the free stage behind them."""

    carried = 0

    def __init__(
        self, state: ThreadState, load: tile.LoadOp, write: staged.WriteOp, loop: scf.ForOp
    ) -> None:
        del loop
        self._state, self._load, self._write = state, load, write

    def start(self) -> list[SSAValue]:
        """Nothing is carried: registers live for one iteration."""
        return []

    def issue(self, inside: SSAValue, stage: SSAValue, carried: list[SSAValue]) -> Action:
        """Load the slice, or zeros behind the last one."""
        del stage, carried
        state = self._state
        state.values[self._load.result] = state.b.choose(
            inside,
            lambda: load_tile(state, self._load),
            lambda: state.b.zero(state.type_of(self._load.result)),
        )
        return lambda: None

    def advance(self, carried: list[SSAValue]) -> list[SSAValue]:
        """Nothing to move."""
        return carried

    def land(self, stage: SSAValue) -> None:
        """Write the registers to the stage."""
        write_tile(self._state, self._write, stage)
