"""A decoded kernel: a flat list of steps over numbered slots."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    StringAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from phobos_nb.ir.dialects.address_space import WORKGROUP
from phobos_nb.ir.dialects.bulk import CLUSTER
from phobos_nb.ir.dialects.gpu import REASON
from phobos_nb.ir.dialects.shapes import element_of, shape_of
from phobos_nb.ir.locations import place_of
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.records import Place
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import DTypeLike

if TYPE_CHECKING:
    from phobos_nb.simulate.in_flight import RegisterWatch

Step = Callable[[Machine, Strand], int | None]
"""Does one operation for a strand; returns where to go on, `None` for the next step."""


class Label:
    """A position in the code that is known once everything before it has been decoded."""

    def __init__(self) -> None:
        self.pc = -1


@dataclass
class Program:
    """The code of a kernel.

    `ops[pc]` is the index of a step's operation in `places` and `operations`; `arguments` are the
    slots of the entry's arguments; `shared_unit` the bytes of the smallest access to shared memory;
    `lane_bytes` a bound of what the values of one lane take; `needs_clocks` says that warps meet
    elsewhere than at CTA barriers;
    `mbarriers`, `stores` and `products` say which engines a CTA has, see `Agents`.
    """

    code: list[Step] = field(default_factory=list[Step])
    ops: list[int] = field(default_factory=list[int])
    places: list[Place] = field(default_factory=list[Place])
    operations: list[Operation] = field(default_factory=list[Operation])
    slot_of: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    reasons: dict[int, str] = field(default_factory=dict[int, str])
    arguments: list[int] = field(default_factory=list[int])
    shared_unit: int = 4
    lane_bytes: int = 0
    needs_clocks: bool = False
    mbarriers: int = 0
    stores: bool = False
    products: bool = False


Row = Callable[["Decoder", Operation], Step | None]
"""Decodes one operation: returns its step, or emits several itself and returns `None`."""


class UnknownOperation(Exception):
    """An operation of the module has no row in the simulator."""


class Decoder:
    """Turns the operations of a block into steps by the rows of the dialects."""

    def __init__(self, rows: dict[str, Row]) -> None:
        self.rows = rows
        self.program = Program()
        self.registers: RegisterWatch | None = None
        self._current = 0

    def slot(self, value: SSAValue) -> int:
        """The slot of an SSA value."""
        slots = self.program.slot_of
        found = slots.get(value)
        if found is None:
            found = slots[value] = len(slots)
            self.program.lane_bytes += bytes_of(value.type)
        return found

    def slots(self, values: Sequence[SSAValue]) -> list[int]:
        """The slots of several values."""
        return [self.slot(v) for v in values]

    @property
    def op(self) -> int:
        """The index of the operation being decoded."""
        return self._current

    @property
    def here(self) -> int:
        """The position of the next step."""
        return len(self.program.code)

    def emit(self, step: Step) -> int:
        """Append a step of the current operation and return its position."""
        self.program.code.append(step)
        self.program.ops.append(self._current)
        return len(self.program.code) - 1

    def touch(self, type_: Attribute) -> None:
        """Note an access to memory of a type: shared memory is watched in its smallest accesses."""
        if not isinstance(type_, MemRefType):
            return
        memref = cast("MemRefType[Attribute]", type_)
        if memref.memory_space in (WORKGROUP, CLUSTER):
            self.program.shared_unit = min(self.program.shared_unit, element_dtype(memref).itemsize)

    def keep_reason(self, op: Operation) -> None:
        """Note why the barrier being decoded is there."""
        reason = op.attributes.get(REASON)
        self.program.reasons[self._current] = reason.data if isinstance(reason, StringAttr) else ""

    def block(self, block: Block) -> Operation | None:
        """Decode a block; its terminator is returned, not decoded."""
        for op in block.ops:
            if op.has_trait(IsTerminator):
                return op
            self.operation(op)
        return None

    def operation(self, op: Operation) -> None:
        """Decode one operation by its row."""
        row = self.rows.get(op.name)
        if row is None:
            raise UnknownOperation(f"the simulator has no row for {op.name}")
        outer = self._current
        self.enter(op)
        step = row(self, op)
        if step is not None:
            watch = self.registers
            self.emit(step if watch is None else watch.wrap(op, self._current, step))
        self._current = outer

    def resume(self, op: int) -> None:
        """Go back to an operation by its index, after what it contains has been decoded."""
        self._current = op

    def enter(self, op: Operation) -> None:
        """Make an operation the current one and give it its place."""
        at = place_of(op)
        self._current = len(self.program.places)
        line, column = (at.line, at.column) if at else (0, 0)
        self.program.places.append(Place(op.name, self._current, line, column))
        self.program.operations.append(op)


def dtype_of(type_: Attribute) -> DTypeLike | None:
    """The NumPy type of a scalar's, vector's or memref's elements; `None` for other types."""
    element = element_of(type_)
    if isinstance(element, IntegerType):
        return _INTEGERS[element.bitwidth]
    for mlir, dtype in _TYPES.items():
        if isinstance(element, mlir):
            return dtype
    return None


def element_dtype(type_: Attribute) -> DTypeLike:
    """`dtype_of` of a type that must have one."""
    dtype = dtype_of(type_)
    if dtype is None:
        raise UnknownOperation(f"the simulator has no values of type {type_}")
    return dtype


def bytes_of(type_: Attribute) -> int:
    """Bytes that a value of a type takes per lane."""
    if isinstance(type_, MemRefType):
        return 8
    dtype = dtype_of(type_)
    return 0 if dtype is None else dtype.itemsize * math.prod(shape_of(type_) or (1,))


_INTEGERS: dict[int, DTypeLike] = {
    1: np.dtype(np.bool_),
    8: np.dtype(np.int8),
    16: np.dtype(np.int16),
    32: np.dtype(np.int32),
    64: np.dtype(np.int64),
}
_TYPES: dict[type[Attribute], DTypeLike] = {
    IndexType: np.dtype(np.int64),
    Float16Type: np.dtype(np.float16),
    BFloat16Type: np.dtype(ml_dtypes.bfloat16),
    Float32Type: np.dtype(np.float32),
    Float64Type: np.dtype(np.float64),
}
