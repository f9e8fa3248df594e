"""How one operand of a pipelined loop gets from global to shared memory, slice after slice.

Both kinds speak the same protocol: `start` makes the values that the loop carries, `issue` begins the
copy of the slice at the present position into a stage, `advance` moves the carried values by one slice,
`land` completes what `issue` began.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from xdsl.dialects import scf
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import SSAValue

from phobos_nb.ir.bounds import Limit
from phobos_nb.ir.dialects import tile
from phobos_nb.lower import staged
from phobos_nb.lower.coefficient import coefficient
from phobos_nb.lower.distribute_box import Box, Run, load_tile
from phobos_nb.lower.distribute_shared import write_tile
from phobos_nb.lower.layout_types import byte_width
from phobos_nb.lower.noted_form import form_of
from phobos_nb.lower.thread_builder import ThreadBuilder
from phobos_nb.lower.thread_state import ThreadState, dense_strides

Action = Callable[[], object]
"""Builds something for its effect."""


class Copy(Protocol):
    """One operand's copies; `carried` is how many values the loop carries for it."""

    carried: int

    def start(self) -> list[SSAValue]:
        """The carried values in front of the loop."""
        ...

    def issue(self, inside: SSAValue, stage: SSAValue, carried: list[SSAValue]) -> Action:
        """Prepare the copy of the present slice; the action starts it.

        `inside` says whether there is such a slice; `stage` is the number of the stage to fill, or the
        offset of its first element.
        """
        ...

    def advance(self, carried: list[SSAValue]) -> list[SSAValue]:
        """The carried values of the next slice."""
        ...

    def land(self, stage: SSAValue) -> None:
        """Complete the copy begun last."""
        ...


class LocatedCopy:
    """A copy whose operations have the place of the load that it stands for."""

    def __init__(self, b: ThreadBuilder, copy: Copy, location: LocationAttr) -> None:
        self._b, self._copy, self._location = b, copy, location
        self.carried = copy.carried

    def start(self) -> list[SSAValue]:
        """The carried values in front of the loop."""
        with self._b.located(self._location):
            return self._copy.start()

    def issue(self, inside: SSAValue, stage: SSAValue, carried: list[SSAValue]) -> Action:
        """Prepare the copy; the action keeps the place as well."""
        with self._b.located(self._location):
            action = self._copy.issue(inside, stage, carried)

        def located() -> None:
            with self._b.located(self._location):
                action()

        return located

    def advance(self, carried: list[SSAValue]) -> list[SSAValue]:
        """The carried values of the next slice."""
        with self._b.located(self._location):
            return self._copy.advance(carried)

    def land(self, stage: SSAValue) -> None:
        """Complete the copy begun last."""
        with self._b.located(self._location):
            self._copy.land(stage)


class AsyncCopy:
    """`cp.async` from a running place; elements outside the tensor arrive as zeros.

    The place is a pointer or an offset from the tensor's base, see `loop_form.ADDRESSES`. Where the
    guard is "zero_fill", the action must be run whether or not there is a slice.
    """

    carried = 1

    def __init__(
        self, state: ThreadState, load: tile.LoadOp, write: staged.WriteOp, loop: scf.ForOp
    ) -> None:
        self._state, self._load, self._write, self._loop = state, load, write, loop
        buffer = write.buffer.owner
        assert isinstance(buffer, staged.BufferOp)
        self._order = buffer.axis_order
        layout = state.layout(load.result)
        self._form = form_of(loop)
        self._flat = self._form.ring == "offset"
        self._physical = buffer.physical
        self._row = dense_strides(buffer.physical)
        self._view = state.view(write.buffer, layout, flat=self._flat)
        self._first = state.first_replica(layout)

    def start(self) -> list[SSAValue]:
        """The thread's own element of the first slice."""
        box = self._box()
        address = box.base_address()
        if self._form.address == "position":
            return [address]
        return [self._state.b.pointer(box.tensor.base, address)]

    def issue(self, inside: SSAValue, stage: SSAValue, carried: list[SSAValue]) -> Action:
        """Addresses and counts are built here, the copies in the action."""
        box = self._box()
        pointer, base = carried[0], self._state.b.index(0)
        if self._form.address == "position":
            pointer, base = box.tensor.base, carried[0]
        condition = inside if self._form.guard == "zero_fill" else None
        runs = [(run, self._count(box, run)) for run in box.runs(condition, base)]

        def copies() -> None:
            for run, count in runs:
                self._copy(box, run, count, stage, pointer)

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
        position = self._form.address == "position"
        return [b.addi(carried[0], step) if position else b.moved(carried[0], step)]

    def land(self, stage: SSAValue) -> None:
        """The hardware does."""

    def _box(self) -> Box:
        """Addresses and masks at the present position; widths that cp.async cannot move are halved."""
        box = Box(self._state, self._load)
        size = byte_width(box.element)
        transposing = self._order[-1] != len(self._order) - 1
        if box.alignment < size * box.width or self._physical[-1] % box.width or transposing:
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
        if self._flat:
            at = sum(o * s for o, s in zip(offsets, self._row, strict=True))
            places = [b.addi(stage, b.index(at))]
        copy = b.copy_async(self._view, places, pointer, run.address, box.width, count)
        if count is not None:
            (run.limit or Limit(count)).mark(copy)


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
